/**
 * What is wrong with one field or header of a call, or with the state that it meets, in French: a sentence for each code of a detail.
 *
 * Invariant: it names the field where the reader has to change one, and the way out.
 */

import type { Sentences } from '../sentences.ts';

export const details = {
  REQUIRED: '{field} manque. Envoyez-le.',
  WRONG_TYPE: '{field} n’est pas du bon type. Envoyez-le sous le type {type}.',
  TOO_LONG: '{field} est trop long. Envoyez au plus {maximum}.',
  TOO_SHORT: '{field} est trop court. Envoyez au moins {minimum}.',
  NOT_AN_OPTION: '{field} n’est pas une valeur possible. Choisissez parmi : {options}.',
  OUT_OF_RANGE: '{field} doit être compris entre {minimum} et {maximum}.',
  INVALID_FORMAT: '{field} n’a pas la bonne forme. Consultez la documentation de ce champ.',
  MALFORMED_PIN:
    '{field} n’est pas un code PIN. Envoyez ses quatre à huit chiffres, sous forme de chaîne de caractères.',
  MALFORMED_OTP:
    '{field} n’est pas un code à usage unique. Envoyez ses six chiffres, sous forme de chaîne de caractères.',
  INVALID_AMOUNT:
    '{field} n’est pas un montant valable. Écrivez un nombre décimal supérieur à zéro, entre guillemets, par exemple “12.50”, sans plus de décimales que n’en a la devise.',
  INVALID_CURRENCY:
    '{field} n’est pas une devise acceptée. Écrivez ses trois lettres en minuscules, par exemple usd ou cdf.',
  CURRENCY_NOT_ALLOWED: 'Cette devise n’est pas ouverte à ce marchand. Choisissez parmi : {currencies}.',
  BINDING_DRIFT:
    '{field} diffère de ce qui a été fixé à la création de la session. Ne l’envoyez pas, ou créez une nouvelle session.',
  INVALID_PHONE_NUMBER:
    '{field} n’est pas un numéro de téléphone valable. Écrivez-le sous forme internationale, par exemple +243 810 000 042.',
  INVALID_EMAIL: '{field} n’est pas une adresse électronique valable. Corrigez-la et envoyez-la de nouveau.',
  INVALID_URL:
    '{field} n’est pas une adresse que nous pouvons appeler. Envoyez une adresse https publique, sans mot de passe, fragment ni port inhabituel. Un bac à sable accepte aussi http.',
  URL_NOT_ALLOWED: '{field} nomme un hôte que ce marchand n’a pas autorisé. Hôtes autorisés : {options}.',
  INVALID_TEXT: '{field} contient des caractères qui ne forment pas un texte valable. Retirez-les.',
  INVALID_JSON: 'Le corps n’est pas du JSON valable. Envoyez un objet JSON.',
  DUPLICATE_KEY: '{field} figure deux fois. Envoyez-le une seule fois.',
  TOO_DEEP: '{field} est trop imbriqué. Envoyez un corps plus plat.',
  DATES_REVERSED: '{field} précède le début de la période. Envoyez les deux dates dans l’ordre.',
  SPAN_TOO_LONG:
    '{field} rend la période plus longue que {days} jours. Demandez des périodes plus courtes, l’une après l’autre.',
  INVALID_CURSOR:
    '{field} ne provient pas de cet appel, ou appartient à une autre période. Renvoyez next_cursor tel quel, ou omettez-le.',
  CARD_DATA:
    '{field} ressemble à une donnée de carte, qui ne doit jamais être envoyée ici. Utilisez le formulaire de carte hébergé.',
  DUPLICATE_HEADER: 'L’en-tête {field} a été envoyé plus d’une fois. Envoyez-le une seule fois.',
  INVALID_IDEMPOTENCY_KEY: 'Idempotency-Key doit compter de 1 à 255 caractères ASCII visibles.',
  INVALID_DEVICE_FINGERPRINT: 'X-Device-Fingerprint doit compter exactement 64 caractères hexadécimaux.',
  UNKNOWN_PAYMENT_METHOD: '{field} ne désigne aucun moyen de paiement de ce marchand. Choisissez parmi : {options}.',
  METHOD_NOT_AVAILABLE: 'Le moyen de paiement {method} n’est pas disponible ici. Choisissez parmi : {options}.',
  METHOD_MISMATCH: '{field} n’est pas le moyen avec lequel ce paiement a été commencé. Choisissez parmi : {options}.',
  NO_CARRIER:
    'Aucun opérateur de mobile money ne dessert ce numéro dans cette devise. Opérateurs qui acceptent la devise : {countries}.',
  CARRIER_CURRENCY: '{carrier} n’accepte pas cette devise. Devises acceptées : {currencies}.',
  DIRECT_CAPTURE: 'DIRECT_CAPTURE n’est pas encore disponible. Utilisez HOSTED_SESSION.',
  SESSION_CONSUMED:
    'Un paiement a déjà été soumis avec cette session. Consultez son état avant d’en commencer un autre ; ne créez une nouvelle session que s’il a pris fin sans être payé.',
  SESSION_EXPIRED:
    'Cette session a expiré. Créez-en une nouvelle ; si vous avez soumis un paiement avec elle, consultez d’abord ce paiement.',
  EXPIRED_AFTER_SUBMIT:
    'Cette session a expiré, après qu’un paiement a été soumis avec elle. Consultez ce paiement avec une autre session ou l’identifiant d’accès du marchand ; vérifiez son code ou déposez sa preuve avec une autre session ; ne commencez un autre paiement que s’il a pris fin sans être payé.',
  CREDENTIAL_FORM:
    'Aucun identifiant d’accès utilisable n’a été envoyé. Envoyez {field} avec Bearer, un espace, puis soit la clé du marchand (key_), un deux-points et son secret (sk_), soit le jeton d’une session (sess_).',
  OTHER_SESSION:
    'Ce paiement a été commencé par une autre session. Soumettez-le avec le jeton de celle-ci ; si elle a expiré, recommencez la collecte une fois que ce paiement a pris fin sans être payé.',
  OTHER_ID: 'Ceci est un {given}, et cet appel attend le {wanted} du paiement. Envoyez celui-ci.',
  WRONG_CREDENTIAL_KIND:
    'Cet appel demande l’autre sorte d’identifiant : celui du marchand pour ses propres appels, un jeton de session pour les paiements.',
  ADDRESS_NOT_ALLOWED:
    'Cet identifiant d’accès ne peut pas servir depuis votre adresse. Appelez depuis une adresse autorisée.',
  SCOPE_MISSING: 'Les sessions de ce marchand doivent dire à quoi elles servent. Envoyez scope : collect ou payout.',
  WRONG_SCOPE: 'Cette session n’a pas été créée pour cela. Créez-en une avec le scope {scope}.',
  SESSION_COLLECTED:
    'Cette session a déjà servi à encaisser un paiement. Créez-en une avec le scope payout et utilisez-la pour le versement.',
  SESSION_ON_DEVICE:
    'Cette session est liée à un appareil, or les versements se font depuis votre serveur. Créez-y une session avec le scope payout, et n’envoyez pas X-Device-Fingerprint avec elle.',
  OTHER_DEVICE:
    '{field} n’est pas celui avec lequel cette session a commencé. Continuez avec l’appareil du début, ou créez une nouvelle session.',
  DUPLICATE_BENEFICIARY:
    '{field} désigne une personne qu’une ligne précédente de cet appel paie déjà. Nommez chaque bénéficiaire une seule fois.',
  PAYOUT_TOTAL: 'La somme des montants dépasse {maximum} {currency}. Répartissez le versement en plusieurs appels.',
  SENDING_TYPE:
    '{given} concerne les versements à dates fixées, et sans {field} le versement serait fait tout de suite. Envoyez {field} avec scheduled ou recurring, ou avec immediate pour verser maintenant.',
  INVALID_DATE: '{field} n’est pas une date qui existe. Écrivez l’année, le mois et le jour, par exemple 2027-01-31.',
  INVALID_INSTANT:
    '{field} n’est ni un jour, comme 2026-11-30, ni un instant avec son fuseau, comme 2026-11-30T12:00:00Z. Dans une adresse, + s’écrit %2B.',
  YEAR_OUT_OF_RANGE:
    '{field} est une date d’une année qui n’est pas acceptée ici. Choisissez une année de {first} à {last}.',
  DATE_PAST:
    '{field} est passée : nous sommes le {today} dans le fuseau horaire de vos versements. Choisissez aujourd’hui ou une date ultérieure.',
  DUPLICATE_DATE: '{field} répète une date. Nommez chaque date une seule fois.',
  PAYOUT_FUNDS:
    'Votre solde disponible est de {available} {currency}, et ce versement demande {needed} {currency}, frais compris. Approvisionnez le solde, ou versez moins.',
  NOT_RETRYABLE:
    '{field} est dans l’état {state} et ne peut être payé à nouveau. Seules les lignes qui ont échoué en route le peuvent, une fois chacune : relisez le lot avant de continuer.',
  TAKEN_AFTER_ALL:
    '{field} : l’opérateur l’a finalement pris en charge : c’est payé, ou ce n’est pas encore certain. Ne le payez pas autrement ; cet appel l’acceptera de nouveau si l’opérateur n’a pas payé.',
  RETRIES_USED:
    'Ce qui a échoué dans ce lot a déjà été payé à nouveau {maximum} fois en vain. Cherchez pourquoi cela échoue, puis faites un nouveau versement.',
  UNKNOWN_LINE: '{field} ne désigne aucune ligne de ce lot. Prenez les identifiants dans le lot lui-même.',
  NO_TARGET:
    'Cet événement a été créé sans notify_url : il n’y a nulle part où l’envoyer. Lisez son contenu ici, et indiquez un notify_url dans vos prochains appels.',
  INVALID_PIN:
    'Le numéro ou le code PIN n’est pas correct. {left, plural, =0 {Il ne reste aucun essai pour le moment.} one {Il reste # essai.} other {Il reste # essais.}}',
  INVALID_OTP:
    'Le code n’est pas correct. {left, plural, =0 {Il ne reste aucun essai pour le moment.} one {Il reste # essai.} other {Il reste # essais.}}',
  OTP_EXPIRED:
    'Le code a expiré. {resends, plural, =0 {Aucun autre ne peut être envoyé : commencez un nouveau paiement.} one {Demandez-en un nouveau : # peut être envoyé.} other {Demandez-en un nouveau : # peuvent être envoyés.}} {left, plural, =0 {Il ne reste aucun essai pour le moment.} one {Il reste # essai.} other {Il reste # essais.}}',
  WALLET_CURRENCY: 'Ce compte est en {currency}, et non dans la devise du paiement. Payez avec un autre compte.',
  IDEMPOTENCY_BODY:
    'Cette Idempotency-Key a servi à une autre requête. Répétez la première sans la changer, ou prenez une nouvelle clé.',
  IN_DOUBT:
    'On ne sait pas si cet appel a produit son effet. Vérifiez-le avant de le renvoyer : sans Idempotency-Key, il pourrait être exécuté deux fois. Avec une telle clé, le même appel peut être répété sans risque.',
  IN_PROGRESS: 'La première requête est encore en cours. Renvoyez-la dans un instant.',
  STATE: 'Le paiement est dans l’état {state}, qui ne permet pas cette étape. Consultez son état avant de poursuivre.',
  AMOUNT_BELOW_MINIMUM: 'Le montant est trop petit. Le minimum est de {minimum} {currency}.',
  AMOUNT_ABOVE_MAXIMUM: 'Le montant est trop grand. Le maximum est de {maximum} {currency}.',
  TOTAL_CHANGED:
    'Le total a changé depuis son affichage : il est de {total} {currency}. Affichez-le, puis soumettez de nouveau.',
  UNKNOWN_PATH: 'Rien ne se trouve à ce chemin. Comparez-le à la documentation.',
  WRONG_METHOD: 'Ce chemin ne prend pas cette méthode HTTP. Il prend : {options}.',
  BODY_TOO_LARGE: 'Le corps est trop grand. Envoyez au plus {maximum} Kio.',
  NOT_HTTP: 'La requête n’est pas du HTTP/1.1 bien formé. Envoyez-la avec une bibliothèque HTTP.',
  TOO_MANY_CHUNKS:
    'Le corps arrive en trop de petits morceaux. Envoyez-le avec un Content-Length ou en morceaux plus grands.',
  HEADERS_TOO_LARGE: 'Les en-têtes sont plus grands que ce serveur n’en accepte. Envoyez-en moins, et de plus courts.',
  REQUEST_LATE: 'La requête n’est pas arrivée entière à temps. Renvoyez-la, toute d’un coup.',
  UNKNOWN_EXPECTATION: 'L’en-tête {field} demande ce que ce serveur ne connaît pas. Ne l’envoyez pas.',
  NOT_JSON: 'Le corps n’est pas du JSON. Envoyez-le avec Content-Type: application/json.',
  BODY_ENCODED: 'Le corps est compressé ou codé d’une autre façon. Envoyez-le tel quel, sans l’en-tête {field}.',
  CARRIER_DOWN: '{carrier} n’est pas joignable en ce moment. Réessayez un peu plus tard.',
  CARRIER_REFUSES:
    '{carrier} n’accepte pas nos paiements actuellement ; aucun mouvement d’argent n’a eu lieu. Renvoyer l’appel n’y change rien : payez autrement.',
  PAYER_UNKNOWN:
    '{carrier} ne connaît aucun compte à ce numéro ; aucun mouvement d’argent n’a eu lieu. Vérifiez le numéro, ou payez autrement.',
  EARLIER_PROMPT_OPEN:
    '{carrier} n’a pas encore dit ce qu’est devenu un essai précédent, qui a peut-être abouti. Réessayez un peu plus tard, et ne recommencez pas la collecte avant.',
  EARLIER_TRY_OPEN:
    'Un essai précédent a peut-être abouti ; le réseau de cartes ne l’a pas encore dit. Réessayez un peu plus tard, et ne recommencez pas la collecte avant.',
  PAID_BEFORE:
    'Un essai précédent de ce paiement a abouti, mais trop tard pour être pris en compte automatiquement. Ne recommencez pas la collecte : faites comptabiliser l’argent par l’opérateur.',
  RESENDS_USED:
    'Aucun autre code ne peut être envoyé. Saisissez le dernier reçu tant qu’il est valable, ou commencez un nouveau paiement.',
  TEXTS_USED:
    'Trop de codes ont été envoyés pour ce compte en une heure. Attendez le temps indiqué par Retry-After, ou payez autrement.',
  PAYMENTS_USED: 'Cette session a commencé autant de paiements que permis. Créez une nouvelle session.',
  CARDS_USED: 'Trop de cartes ont été refusées dans cette session. Payez autrement.',
  NO_CARD_FORM:
    'Aucun formulaire de carte n’a été ouvert pour ce paiement. Ouvrez son payment_url, ou recommencez la collecte avec payment_method card.',
  OTHER_CARD_FORM:
    '{field} n’est pas le formulaire de carte de ce paiement. Envoyez le session_id de la réponse de collecte.',
  CARD_NOT_ENTERED:
    'Le formulaire de carte ne contient pas encore de carte. Faites-le remplir par le client, puis soumettez à nouveau.',
  FORM_CHANGED:
    'Le formulaire de carte ne contient plus ce qui lui était lié. Recommencez la collecte et utilisez le nouveau formulaire.',
  FORM_USED: 'Ce formulaire de carte a déjà servi à payer. Recommencez la collecte et utilisez le nouveau formulaire.',
  FORM_EXPIRED:
    'Ce formulaire de carte a expiré auprès du réseau de cartes. Recommencez la collecte et utilisez le nouveau formulaire.',
  CARD_DECLINED:
    'La banque émettrice de la carte a refusé le paiement. Proposez une autre carte ou un autre moyen de paiement.',
  CARD_FUNDS: 'Le solde de la carte ne suffit pas. Proposez une autre carte ou un autre moyen de paiement.',
  CARD_EXPIRED: 'La carte a expiré. Proposez une autre carte ou un autre moyen de paiement.',
  AUTHENTICATION_FAILED:
    'La banque émettrice de la carte n’a pas confirmé qu’il s’agissait de son client. Proposez une autre carte ou un autre moyen de paiement.',
  NOT_A_CARD: 'Ce paiement se fait par {method} et non par carte. Lisez-le plutôt par GET /payments/status.',
  NOT_FORM: 'Le corps n’est pas un formulaire. Envoyez-le en multipart/form-data avec sa délimitation (boundary).',
  INVALID_FORM: 'Le formulaire est illisible. Envoyez au plus huit champs courts et un seul fichier, en entier.',
  FILE_EMPTY: '{field} est vide. Choisissez de nouveau le fichier et envoyez-le.',
  FILE_TYPE: '{field} n’est pas un fichier accepté ici. Envoyez une image JPEG ou PNG, ou un PDF.',
  FILE_UNSAFE:
    '{field} est endommagé ou contient autre chose qu’une image ou un document. Envoyez une photo, une capture d’écran ou un PDF simple.',
  FILE_TOO_LARGE: '{field} est trop volumineux. Envoyez au plus {limit}, par exemple une image plus petite.',
  UPLOAD_STALLED:
    'L’envoi de {field} s’est interrompu. Recommencez-le depuis le début, avec une meilleure connexion ou une image plus petite.',
  UNKNOWN_BANK_ACCOUNT:
    '{field} ne désigne aucun compte qui accepte ce paiement. Choisissez-en un dans la liste de GET /payments/get-config-bank.',
  NOT_DELAYED: 'Ce paiement a été livré directement : son argent est déjà disponible, et il n’y a rien à libérer.',
  NOTHING_LEFT: 'Ce paiement a déjà été remboursé en entier : il ne reste rien à rembourser.',
  NOT_PAID:
    'Le paiement est dans l’état {state} : seul un paiement accepté peut être remboursé. Consultez son état avant de poursuivre.',
  ABOVE_REFUNDABLE:
    'De ce paiement, {left} {currency} peuvent encore être remboursés. Demandez au plus cette somme, ou omettez le montant.',
  REFUND_UNDER_WAY:
    'Tout ce paiement est déjà en cours de remboursement, ou remboursé : rien de plus ne peut être demandé. Consultez ses remboursements par GET /internal/refunds.',
  REFUNDS_USED:
    '{maximum} remboursements de ce paiement ont été demandés, échecs compris, et il n’en accepte plus. Rendez le reste autrement, par exemple par un virement de votre part.',
  BALANCE_SHORT:
    'Il faut {needed} {currency}, et le solde disponible est de {available} {currency}. Créditez le solde, ou demandez moins.',
  ARCHIVED:
    'Cette opération est terminée depuis longtemps et a été archivée : on peut la lire, mais plus la rembourser ni la payer à nouveau. Envoyez plutôt l’argent par un nouveau versement.',
  ARCHIVED_EVENT:
    'Cet événement est ancien et a été archivé : on peut le lire ici, mais plus le renvoyer. Lisez son contenu, ou la transaction dont il parle.',
  BEFORE_RECORDS:
    '{field} est antérieur au {day}, et les lignes plus anciennes ne sont plus conservées. Demandez une période à partir du {day}.',
} as const satisfies Sentences['detail'];
