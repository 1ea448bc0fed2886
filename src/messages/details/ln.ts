/**
 * What is wrong with one field or header of a call, or with the state that it meets, in Lingala: a sentence for each code of a detail.
 *
 * Invariant: it names the field where the reader has to change one, and the way out.
 */

import type { Sentences } from '../sentences.ts';

export const details = {
  REQUIRED: '{field} ezangi. Tinda yango.',
  WRONG_TYPE: '{field} ezali na type oyo ebongi te. Tinda yango lokola {type}.',
  TOO_LONG: '{field} eleki molai. Ekoki koleka {maximum} te.',
  TOO_SHORT: '{field} eleki mokuse. Esengeli kokoma ata {minimum}.',
  NOT_AN_OPTION: '{field} ezali na kati ya oyo endimami te. Pona moko ya oyo: {options}.',
  OUT_OF_RANGE: '{field} esengeli kozala kati ya {minimum} na {maximum}.',
  INVALID_FORMAT: '{field} ekomami malamu te. Tala documentation ya champ oyo.',
  MALFORMED_PIN: '{field} ezali PIN te. Tinda bachiffre na yango minei kino mwambe, lokola string.',
  MALFORMED_OTP: '{field} ezali code oyo esalelamaka mbala moko te. Tinda bachiffre na yango motoba, lokola string.',
  INVALID_AMOUNT:
    '{field} ezali motango ya mbongo ya malamu te. Koma motango oyo eleki zéro, lokola maloba, neti “12.50”, kozanga koleka bachiffre ya nsuka ya devise.',
  INVALID_CURRENCY: '{field} ezali devise oyo endimami te. Koma balettre na yango misato ya mike, neti usd to cdf.',
  CURRENCY_NOT_ALLOWED: 'Moteki oyo akoki kosalela devise wana te. Pona moko ya oyo: {currencies}.',
  BINDING_DRIFT: '{field} ekeseni na oyo session esalemaki na yango. Tinda yango te, to sala session ya sika.',
  INVALID_PHONE_NUMBER:
    '{field} ezali nimero ya telefone ya malamu te. Koma yango na ndenge ya mokili mobimba, neti +243 810 000 042.',
  INVALID_EMAIL: '{field} ezali adresse ya email ya malamu te. Bongisa yango mpe tinda lisusu.',
  INVALID_URL:
    '{field} ezali adresse oyo tokoki kobenga te. Tinda adresse https oyo bato nyonso bakoki komona, kozanga mot de passe, fragment to port ya kokesene. Sandbox endimaka mpe http.',
  URL_NOT_ALLOWED: '{field} etangi serveur oyo moteki oyo andimi te. Oyo endimami: {options}.',
  INVALID_TEXT: '{field} ezali na bilembo oyo ezali maloba te. Longola yango.',
  INVALID_JSON: 'Body ezali JSON ya malamu te. Tinda JSON moko.',
  DUPLICATE_KEY: '{field} ezali mbala mibale. Tinda yango mbala moko.',
  TOO_DEEP: '{field} ekoti na kati mingi. Tinda body ya petee.',
  DATES_REVERSED: '{field} ezali liboso ya ebandeli. Tinda badati nyonso mibale na molongo na yango.',
  SPAN_TOO_LONG: '{field} ekomisi ntango molai koleka mikolo {days}. Senga bantango ya mokuse, moko na moko.',
  INVALID_CURSOR:
    '{field} eutaki na bosenga oyo te, to ezali ya ntango mosusu. Tinda next_cursor ndenge ezalaki, to tika yango.',
  CARD_DATA: '{field} emonani lokola nimero ya carte, oyo esengeli kotindama awa te. Salela formulaire ya carte.',
  DUPLICATE_HEADER: 'En-tête {field} etindami koleka mbala moko. Tinda yango mbala moko.',
  INVALID_IDEMPOTENCY_KEY: 'Idempotency-Key esengeli kozala na bilembo ASCII 1 kino 255 oyo emonanaka.',
  INVALID_DEVICE_FINGERPRINT: 'X-Device-Fingerprint esengeli kozala na bilembo hexadécimal 64.',
  UNKNOWN_PAYMENT_METHOD: '{field} ezali lolenge ya kofuta ya moteki oyo te. Pona moko ya oyo: {options}.',
  METHOD_NOT_AVAILABLE: 'Lolenge ya kofuta {method} ezali awa te. Pona moko ya oyo: {options}.',
  METHOD_MISMATCH: '{field} ezali ndenge oyo lifuti oyo ebandaki na yango te. Pona moko ya oyo: {options}.',
  NO_CARRIER:
    'Opérateur ya mobile money ezali te mpo na nimero oyo na devise oyo. Baopérateur oyo endimaka devise yango: {countries}.',
  CARRIER_CURRENCY: '{carrier} endimaka devise oyo te. Endimaka: {currencies}.',
  DIRECT_CAPTURE: 'DIRECT_CAPTURE ezali naino te. Salela HOSTED_SESSION.',
  SESSION_CONSUMED:
    'Lifuti moko esili kotindama na session oyo. Tanga état na yango liboso ya kobanda mosusu; sala session ya sika kaka soki esukaki kozanga kofutama.',
  SESSION_EXPIRED: 'Session oyo esili. Sala ya sika; soki otindaki lifuti na yango, tanga lifuti yango liboso.',
  EXPIRED_AFTER_SUBMIT:
    'Session oyo esili, nsima ya kotinda lifuti moko na yango. Tanga lifuti yango na session mosusu to na fungola ya moteki, mpe tala code na yango to tinda preuve na yango na session mosusu; banda lifuti mosusu kaka soki esukaki kozanga kofutama.',
  CREDENTIAL_FORM:
    'Fungola ya kokota oyo ebongi etindamaki te. Tinda {field} boye: Bearer, esika ya mpamba, mpe fungola ya moteki (key_), deux-points na secret na yango (sk_), to token ya session (sess_).',
  OTHER_SESSION:
    'Session mosusu ebandaki lifuti oyo. Tinda yango na token ya session wana; soki ntango na yango esili, banda collect lisusu kaka nsima ya nsuka ya lifuti oyo, soki efutamaki te.',
  OTHER_ID: 'Oyo ezali {given}, kasi appel oyo esengi {wanted} ya lifuti. Tinda yango.',
  WRONG_CREDENTIAL_KIND:
    'Appel oyo esengi fungola ya lolenge mosusu: ya moteki mpo na makambo na ye, token ya session mpo na kofuta.',
  ADDRESS_NOT_ALLOWED: 'Fungola oyo ekoki kosalelama na adresse na yo te. Benga na adresse oyo endimami.',
  SCOPE_MISSING: 'Basession ya moteki oyo esengeli koloba ntina na yango. Tinda scope: collect to payout.',
  WRONG_SCOPE: 'Session oyo esalemaki mpo na yango te. Sala moko na scope {scope}.',
  SESSION_COLLECTED: 'Session oyo esi ezwaki lifuti. Sala moko na scope payout, mpe futa bato na yango.',
  SESSION_ON_DEVICE:
    'Session oyo ekangami na appareil, kasi kofuta bato esalemaka na serveur na yo. Sala kuna session na scope payout, mpe kotinda X-Device-Fingerprint elongo na yango te.',
  OTHER_DEVICE:
    '{field} ekokani te na oyo session oyo ebandaki na yango. Koba na appareil wana, to sala session ya sika.',
  DUPLICATE_BENEFICIARY:
    '{field} etangi moto oyo molongo ya liboso ya appel oyo esi efuti. Tanga moto na moto mbala moko.',
  PAYOUT_TOTAL: 'Mbongo nyonso esangani koleka {maximum} {currency}. Kabola yango na baappel ebele.',
  SENDING_TYPE:
    '{given} ezali mpo na kofuta na mikolo oyo eponami, mpe soki {field} ezali te, kofuta ekosalema mbala moko. Tinda {field} scheduled to recurring, to immediate mpo na kofuta sikoyo.',
  INVALID_DATE: '{field} ezali mokolo oyo ezali te. Koma mbula, sanza na mokolo, neti 2027-01-31.',
  INVALID_INSTANT:
    '{field} ezali mokolo te, neti 2026-11-30, mpe ntango elongo na zone na yango te, neti 2026-11-30T12:00:00Z. Na adresse, + ekomamaka %2B.',
  YEAR_OUT_OF_RANGE: '{field} ezali na mobu oyo endimami awa te. Pona mobu banda {first} kino {last}.',
  DATE_PAST: '{field} esi eleki: lelo ezali {today} esika kofuta na yo esalemaka. Pona lelo to mokolo ya nsima.',
  DUPLICATE_DATE: '{field} ezongeli mokolo. Tanga mokolo na mokolo mbala moko.',
  PAYOUT_FUNDS:
    'Mbongo oyo okoki kosalela ezali {available} {currency}, mpe kofuta oyo esengi {needed} {currency} elongo na frais. Bakisa mbongo, to futa moke.',
  NOT_RETRYABLE:
    '{field} ezali na état {state} mpe ekoki kofutama lisusu te. Kaka milongo oyo elongaki te na nzela ekoki, moko na moko mbala moko: tanga lot liboso ya kokoba.',
  TAKEN_AFTER_ALL:
    '{field}: opérateur andimaki yango na nsuka: efutami, to eyebani naino te. Kofuta yango na lolenge mosusu te; appel oyo ekondima yango lisusu soki opérateur afutaki te.',
  RETRIES_USED:
    'Oyo elongaki te na lot oyo efutamaki lisusu mbala {maximum} mpamba. Luka ntina oyo ezali kolonga te, na nsima sala kofuta ya sika.',
  UNKNOWN_LINE: '{field} ezali molongo ya lot oyo te. Zwa banimero na lot yango moko.',
  NO_TARGET:
    'Likambo oyo esalemaki na notify_url te: esika ya kotinda yango ezali te. Tanga makambo na yango awa, mpe tya notify_url na masengi na yo oyo ekoya.',
  INVALID_PIN:
    'Nimero to PIN ezali ya solo te. {left, plural, =0 {Okoki komeka lisusu na sikoyo te.} one {Okoki komeka lisusu mbala #.} other {Okoki komeka lisusu mbala #.}}',
  INVALID_OTP:
    'Code ezali ya solo te. {left, plural, =0 {Okoki komeka lisusu na sikoyo te.} one {Okoki komeka lisusu mbala #.} other {Okoki komeka lisusu mbala #.}}',
  OTP_EXPIRED:
    'Ntango ya code esili. {resends, plural, =0 {Code mosusu ekoki kotindama te: banda lifuti ya sika.} other {Senga ya sika: ekoki kotindama mbala #.}} {left, plural, =0 {Okoki komeka lisusu na sikoyo te.} one {Okoki komeka lisusu mbala #.} other {Okoki komeka lisusu mbala #.}}',
  WALLET_CURRENCY: 'Compte oyo ezali ya {currency}, ezali devise ya lifuti oyo te. Futa na compte mosusu.',
  IDEMPOTENCY_BODY:
    'Idempotency-Key oyo esalelamaki na bosenga mosusu. Tinda lisusu bosenga ya liboso ndenge ezalaki, to salela fungola ya sika.',
  IN_DOUBT:
    'Toyebi te soki bosenga oyo esalemi. Luka yango liboso ya kotinda yango lisusu: soki Idempotency-Key ezali te, ekoki kosalema mbala mibale. Na yango, bosenga wana ekoki kozongelama kozanga likama.',
  IN_PROGRESS: 'Bosenga ya liboso ezali naino kosalema. Tinda yango lisusu mwa moke na nsima.',
  STATE: 'Lifuti ezali na état {state}, oyo epesi nzela na etape oyo te. Tanga état na yango liboso ya kokoba.',
  AMOUNT_BELOW_MINIMUM: 'Motango ya mbongo ezali moke mingi. Oyo ya moke koleka ezali {minimum} {currency}.',
  AMOUNT_ABOVE_MAXIMUM: 'Motango ya mbongo eleki monene. Oyo ya monene koleka ezali {maximum} {currency}.',
  TOTAL_CHANGED:
    'Total ebongwani nsima ya komonisama: ezali sikoyo {total} {currency}. Monisa yango, na nsima tinda lisusu.',
  UNKNOWN_PATH: 'Eloko moko te ezali na nzela oyo. Tala yango na documentation.',
  WRONG_METHOD: 'Nzela oyo endimaka méthode HTTP wana te. Endimaka: {options}.',
  BODY_TOO_LARGE: 'Body eleki monene. Ekoki koleka {maximum} KiB te.',
  NOT_HTTP: 'Bosenga ezali HTTP/1.1 ya malamu te. Tinda yango na bibliothèque HTTP.',
  TOO_MANY_CHUNKS: 'Body ekatani na biteni mike mingi. Tinda yango na Content-Length to na biteni minene.',
  HEADERS_TOO_LARGE: 'Ba-en-tête ezali minene koleka oyo serveur oyo endimaka. Tinda mingi te, mpe ya mikuse.',
  REQUEST_LATE: 'Bosenga ekomi mobimba na ntango te. Tinda yango lisusu, nyonso mbala moko.',
  UNKNOWN_EXPECTATION: 'En-tête {field} ezali kosenga likambo oyo serveur oyo eyebi te. Kotinda yango te.',
  NOT_JSON: 'Body ezali JSON te. Tinda yango na Content-Type: application/json.',
  BODY_ENCODED: 'Body ekangami to ekomami na lolenge mosusu. Tinda yango ndenge ezali, kozanga en-tête {field}.',
  CARRIER_DOWN: '{carrier} ezali kozwama sikoyo te. Meka lisusu mwa moke na nsima.',
  CARRIER_REFUSES:
    '{carrier} ezali kondima mafuti na biso sikoyo te; mbongo elongwe te. Kozongela yango esalisaka te: futa na lolenge mosusu.',
  PAYER_UNKNOWN:
    '{carrier} eyebi compte moko te na nimero oyo; mbongo elongwe te. Tala nimero, to futa na lolenge mosusu.',
  EARLIER_PROMPT_OPEN:
    '{carrier} eyebisi naino te oyo lifuti omekamaki liboso ekomi; ekoki kozala elongaki. Meka lisusu mwa moke na nsima; kobanda collect lisusu te liboso ya wana.',
  EARLIER_TRY_OPEN:
    'Lifuti oyo emekamaki liboso ekoki kozala elongaki; réseau ya bacarte eyebisi naino te. Meka lisusu mwa moke na nsima; kobanda collect lisusu te liboso ya wana.',
  PAID_BEFORE:
    'Lifuti oyo emekamaki liboso elongaki, kasi na nsima ya ntango. Kobanda collect lisusu te: senga opérateur akoma mbongo yango.',
  RESENDS_USED: 'Code mosusu ekoki kotindama te. Koma oyo ya nsuka soki ezali naino malamu, to banda lifuti ya sika.',
  TEXTS_USED:
    'Bacode ebele etindami mpo na compte oyo na ngonga moko. Zela ntango oyo Retry-After elobi, to futa na lolenge mosusu.',
  PAYMENTS_USED: 'Session oyo ebandi mafuti nyonso oyo endimami. Sala session ya sika.',
  CARDS_USED: 'Bakarte ebele eboyami na session oyo. Futa na lolenge mosusu.',
  NO_CARD_FORM:
    'Formulaire ya carte efungwami naino te mpo na lifuti oyo. Fungola payment_url na yango, to banda collect lisusu na payment_method card.',
  OTHER_CARD_FORM: '{field} ezali formulaire ya carte ya lifuti oyo te. Tinda session_id oyo eyano ya collect epesaki.',
  CARD_NOT_ENTERED: 'Carte ezali naino na formulaire te. Tika client atondisa yango, mpe tinda lisusu.',
  FORM_CHANGED:
    'Formulaire ya carte ebongwani, ezali lisusu te na oyo ekangamaki na yango. Banda collect lisusu, mpe salela formulaire ya sika.',
  FORM_USED: 'Formulaire oyo ya carte esili kofuta. Banda collect lisusu, mpe salela formulaire ya sika.',
  FORM_EXPIRED:
    'Ntango ya formulaire oyo ya carte esili na réseau ya bacarte. Banda collect lisusu, mpe salela formulaire ya sika.',
  CARD_DECLINED: 'Banki ya carte eboyi lifuti. Pesa carte mosusu to lolenge mosusu ya kofuta.',
  CARD_FUNDS: 'Mbongo ekoki na carte te. Pesa carte mosusu to lolenge mosusu ya kofuta.',
  CARD_EXPIRED: 'Ntango ya carte esili. Pesa carte mosusu to lolenge mosusu ya kofuta.',
  AUTHENTICATION_FAILED:
    'Banki ya carte endimi te ete ezali client na yango. Pesa carte mosusu to lolenge mosusu ya kofuta.',
  NOT_A_CARD: 'Lifuti oyo esalemaka na {method}, na carte te. Tanga yango na GET /payments/status.',
  NOT_FORM: 'Body ya bosenga ezali formulaire te. Tinda yango na multipart/form-data elongo na boundary na yango.',
  INVALID_FORM: 'Formulaire etangamaki te. Tinda bachamp ya mikuse oyo eleki mwambe te, mpe fichier moko ya mobimba.',
  FILE_EMPTY: '{field} ezali na eloko te. Pona lisusu fichier mpe tinda yango.',
  FILE_TYPE: '{field} ezali fichier oyo endimami awa te. Tinda elilingi JPEG to PNG, to PDF.',
  FILE_UNSAFE:
    '{field} ebebi to ezali na biloko mosusu longola elilingi to mokanda. Tinda foto, capture ya écran to PDF ya pamba.',
  FILE_TOO_LARGE: '{field} eleki monene. Tinda {limit} to moke, ndakisa elilingi ya moke.',
  UPLOAD_STALLED:
    '{field} etelemi na katikati ya nzela. Tinda yango lisusu banda ebandeli, na connexion ya malamu to na elilingi ya moke.',
  UNKNOWN_BANK_ACCOUNT:
    '{field} ezali compte oyo ekoki koyamba lifuti oyo te. Pona moko na liste ya GET /payments/get-config-bank.',
  NOT_DELAYED: 'Lifuti oyo epesamaki mbala moko: mbongo na yango esi ezali, eloko ya kofungola ezali te.',
  NOTHING_LEFT: 'Mbongo nyonso ya lifuti oyo ezongisamaki kala: eloko ya kozongisa etikali te.',
  NOT_PAID:
    'Lifuti ezali na état {state}: kaka lifuti oyo endimami nde ekoki kozongisama. Tanga état na yango liboso ya kokoba.',
  ABOVE_REFUNDABLE:
    'Na lifuti oyo, {left} {currency} ekoki naino kozongisama. Senga oyo eleki yango te, to tika motango.',
  REFUND_UNDER_WAY:
    'Mbongo nyonso ya lifuti oyo ezali kozongisama, to ezongisamaki kala: eloko mosusu ekoki kosengama te. Tanga yango na GET /internal/refunds.',
  REFUNDS_USED:
    'Basengi kozongisa mbongo ya lifuti oyo mbala {maximum}, ata oyo elongaki te, mpe ekoki lisusu te. Zongisa oyo etikali na lolenge mosusu, neti na virement na yo moko.',
  BALANCE_SHORT:
    'Esengeli na {needed} {currency}, kasi mbongo oyo okoki kosalela ezali {available} {currency}. Tya mbongo mosusu, to senga moke.',
  ARCHIVED:
    'Likambo oyo esila kala mpe ebombami na archive: okoki kotanga yango, kasi okoki lisusu te kozongisa mbongo na yango to kofuta yango lisusu. Tinda mbongo na kofuta ya sika.',
  ARCHIVED_EVENT:
    'Likambo oyo ezali ya kala mpe ebombami na archive: okoki kotanga yango awa, kasi okoki lisusu kotinda yango te. Tanga makambo na yango, to tanga transaction oyo elobeli.',
  BEFORE_RECORDS:
    '{field} ezali liboso ya {day}, mpe milongo ya kala koleka ebombami lisusu te. Senga eleko kobanda {day}.',
} as const satisfies Sentences['detail'];
