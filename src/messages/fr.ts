/**
 * French, the default language. The reader is addressed as vous.
 */

import { details } from './details/fr.ts';
import type { Sentences } from './sentences.ts';

export const fr = {
  refusal: {
    1001: [
      'L’identifiant d’accès n’est pas valable.',
      'Vérifiez la clé et le secret, ou créez une nouvelle session ; un paiement soumis avec l’ancienne doit d’abord être consulté.',
    ],
    1002: [
      'La requête ne porte aucun identifiant d’accès utilisable.',
      'Envoyez un seul en-tête Authorization : Bearer, un espace, puis l’identifiant.',
    ],
    1003: ['Cet identifiant d’accès ne permet pas cet appel.', 'Utilisez celui auquel l’appel est destiné.'],
    1004: ['Ce compte marchand est suspendu.', 'Adressez-vous à l’opérateur de la passerelle.'],
    1005: [
      'La session ou l’identifiant d’accès a expiré.',
      'Créez une nouvelle session, ou demandez un nouvel identifiant ; un paiement soumis avec l’ancienne session doit d’abord être consulté.',
    ],
    1101: [
      'Le montant ne convient pas : il est mal écrit, ou ce n’est pas celui de cette session.',
      'Envoyez le montant tel qu’il a été fixé, ou créez une nouvelle session.',
    ],
    1102: [
      'Cette devise n’est pas acceptée ici, ou ce n’est pas celle de cette session.',
      'Créez une nouvelle session dans une devise qui vous est ouverte.',
    ],
    1103: [
      'Ce moyen de paiement ne peut pas servir ici, ou la référence client n’est pas celle de la session.',
      'Corrigez le champ indiqué dans les détails.',
    ],
    1104: [
      'Le numéro de téléphone n’est pas valable.',
      'Écrivez-le sous forme internationale, par exemple +243 810 000 042.',
    ],
    1105: ['L’adresse électronique n’est pas valable.', 'Corrigez-la et envoyez-la de nouveau.'],
    1106: ['Le numéro de carte n’est pas valable.', 'Vérifiez les chiffres de la carte et saisissez-les de nouveau.'],
    1107: [
      'La date d’expiration de la carte est mal écrite ou dépassée.',
      'Vérifiez la date, ou utilisez une autre carte.',
    ],
    1108: [
      'Le code de sécurité de la carte n’est pas valable.',
      'Saisissez les 3 ou 4 chiffres imprimés sur la carte.',
    ],
    1109: ['Un champ obligatoire manque.', 'Ajoutez les champs indiqués dans les détails.'],
    1110: ['Un champ n’a pas la bonne forme.', 'Corrigez les champs indiqués dans les détails.'],
    1201: ['Le solde ne suffit pas pour ce paiement.', 'Rechargez le compte, ou payez autrement.'],
    1202: ['Le montant est hors des limites de ce paiement.', 'Choisissez un montant dans les limites.'],
    1203: [
      'Cette Idempotency-Key a déjà servi pour une autre requête.',
      'Répétez la première requête sans rien y changer, ou prenez une nouvelle clé.',
    ],
    1204: [
      'Rien n’a été trouvé sous cet identifiant.',
      'Vérifiez-le, et utilisez une clé ou une session du marchand qui l’a créé.',
    ],
    1205: [
      'Le paiement est dans l’état {state}, qui ne permet pas cette étape.',
      'Consultez son état avant de poursuivre.',
    ],
    1207: ['Un versement compte au plus 100 bénéficiaires.', 'Répartissez-les en plusieurs lots.'],
    1301: ['Trop de requêtes.', 'Attendez le temps indiqué par Retry-After, puis réessayez.'],
    1302: ['Le code PIN ou le code reçu n’a pas pu être vérifié.', 'Vérifiez-le et saisissez-le de nouveau.'],
    1303: [
      'Trop d’essais erronés : la vérification est bloquée pour le moment.',
      'Attendez le temps indiqué par Retry-After, puis réessayez.',
    ],
    1304: [
      'La signature ne correspond pas.',
      'Vérifiez que les deux côtés utilisent le même secret et que leurs horloges s’accordent.',
    ],
    1305: [
      'Cette session appartient à un autre appareil.',
      'Poursuivez sur l’appareil qui l’a commencée, ou créez une nouvelle session.',
    ],
    1401: [
      'Une erreur est survenue de notre côté.',
      'Réessayez avec la même Idempotency-Key ; si cela persiste, indiquez le request_id.',
    ],
    1402: [
      'Le service ne peut pas traiter la requête en ce moment.',
      'Attendez le temps indiqué par Retry-After, puis réessayez.',
    ],
    1403: ['Cet appel n’existe pas.', 'Vérifiez le chemin, la méthode, le type de contenu et la taille du corps.'],
    1404: ['L’opérateur ou le réseau n’a pas accepté la demande.', 'Réessayez un peu plus tard.'],
    1502: ['Le paiement a été refusé.', 'Ne le répétez pas : proposez au client un autre moyen de payer.'],
  },
  detail: details,
  status: {
    pending: 'Le paiement est commencé. Choisissez comment payer et confirmez.',
    processing: 'Le paiement est en cours. Patientez ; il n’est pas nécessaire de payer de nouveau.',
    pending_otp_verification: 'Saisissez le code à six chiffres que nous avons envoyé à votre téléphone.',
    pending_mobile_money_verification: 'Confirmez la demande sur votre téléphone, avec votre code PIN.',
    pendingBankProofUpload: 'Faites le virement, puis déposez-en la preuve.',
    approved: 'Le paiement est accepté. Merci.',
    declined: 'Le paiement a été refusé. Veuillez payer autrement.',
    failed: 'Le paiement a échoué. Vous pouvez réessayer avec un nouveau paiement.',
    cancelled: 'Le paiement a été annulé. Rien n’a été débité.',
    expired: 'Le délai pour payer est écoulé. Vous pouvez commencer un nouveau paiement.',
    refunded: 'Le paiement a été remboursé.',
  },
  reason: {
    insufficient_funds: 'Le solde du compte ne suffisait pas.',
    customer_rejected: 'Le client a rejeté la demande sur son téléphone.',
    wrong_pin: 'Un code PIN erroné a été saisi trop de fois.',
    prompt_expired: 'La demande sur le téléphone est restée sans réponse.',
    limit_reached: 'La limite du compte est atteinte.',
    payer_unknown: 'Ce numéro n’a pas de compte mobile money.',
    payee_unknown: 'Le numéro du destinataire n’a pas de compte mobile money.',
    payee_blocked: 'Le compte du destinataire ne peut pas recevoir d’argent.',
    not_allowed: 'L’opérateur ne permet pas ce paiement depuis ce compte.',
    carrier_failed: 'L’opérateur n’a pas pu exécuter le paiement.',
    not_sent: 'L’opérateur n’a pas accepté la demande.',
    form_unusable: 'Le formulaire de carte n’était pas utilisable ; aucun argent n’a été demandé.',
    not_asked:
      'Aucun argent n’a été demandé : le réseau de cartes ne répondait pas, ou un essai précédent a peut-être abouti.',
    session_expired: 'La session a pris fin avant que le paiement ne soit confirmé.',
    sibling_paid: 'Un autre paiement de la même session a été soumis à sa place.',
    settled_by_operator: 'Le paiement a été clôturé manuellement, après vérification de son résultat.',
    declined: 'L’établissement du payeur a refusé le paiement.',
    card_declined: 'La banque émettrice de la carte a refusé le paiement.',
    card_funds: 'Le solde de la carte ne suffisait pas.',
    card_expired: 'La carte a expiré.',
    authentication_failed: 'La banque émettrice de la carte n’a pas confirmé qu’il s’agissait de son client.',
    authentication_cancelled: 'Le client a annulé la confirmation auprès de sa banque.',
    challenge_expired: 'La confirmation de la banque n’a pas été terminée à temps ; rien n’a été débité.',
    proof_declined: 'La preuve du virement bancaire n’a pas été acceptée.',
    proof_overdue: 'Aucune preuve du virement bancaire n’est arrivée à temps.',
    merchant_funds_missing: 'Le solde du marchand ne couvrait pas le versement et ses frais.',
    wallet_unknown: 'Aucun portefeuille ne porte ce numéro.',
    wallet_currency: 'Le portefeuille est tenu dans une autre devise.',
    called_off: 'Le versement a été annulé avant son envoi.',
    refund_called_off: 'Le remboursement a été annulé manuellement.',
  },
  payout: {
    pending: 'Le versement est accepté et sera envoyé sous peu.',
    scheduled: 'Le versement est accepté et prévu pour le {date}.',
    waiting: 'Le versement est en attente : l’opérateur est injoignable. Il partira dès que l’opérateur répondra.',
    processing: 'Le versement est en route.',
    completed: 'Le versement est arrivé.',
    failed: 'Le versement n’a pas abouti. {reason}',
    taken_after_all:
      'Le versement a été annoncé comme échoué, mais l’opérateur l’a finalement pris en charge : il est payé, ou ce n’est pas encore certain. Ne le payez pas autrement. {reason}',
  },
  refund: {
    pending: 'Le remboursement est accepté et sera envoyé sous peu.',
    by_hand: 'Le remboursement est accepté. Il est exécuté manuellement.',
    waiting:
      'Le remboursement est en attente : l’argent n’a pas pu être envoyé. Nous réessayons jusqu’à ce qu’il parte.',
    processing: 'Le remboursement est en route.',
    completed: 'L’argent a été rendu.',
    failed: 'Le remboursement n’a pas abouti ; la somme est revenue dans votre solde. {reason}',
    taken_after_all:
      'Le remboursement a été annoncé comme échoué, mais il a finalement été pris en charge : il est payé, ou ce n’est pas encore certain. N’envoyez pas l’argent autrement. {reason}',
  },
  late: {
    waiting:
      'L’argent de cette commande est arrivé trop tard pour compter. Ne payez pas une seconde fois : l’opérateur de la passerelle le rendra ou le créditera à la boutique.',
    merchant:
      'L’argent de cette commande est arrivé trop tard pour compter ; il a été crédité à la boutique. Ne payez pas une seconde fois.',
    payer: 'L’argent de cette commande est arrivé trop tard pour compter ; il a été rendu.',
  },
  progress: {
    pending: 'Le paiement est commencé. Indiquez le numéro de téléphone avec lequel vous payez.',
    started: 'Le paiement est commencé et attend le payeur.',
    processing: 'Le paiement est en cours. Confirmez-le sur votre téléphone si on vous le demande.',
    completed: 'Le paiement est reçu. Merci.',
    failed: 'Le paiement n’a pas abouti. Vous pouvez réessayer avec un nouveau paiement.',
    cancelled: 'Le paiement a été annulé. Rien n’a été débité.',
    waiting: '{carrier} vous demande de confirmer. Saisissez votre code PIN sur votre téléphone.',
    carrier_silent: '{carrier} n’a pas encore répondu. Nous continuons de vérifier ; ne payez pas une seconde fois.',
  },
  method: {
    wallet: 'Portefeuille',
    mobile_money: 'Mobile money',
    card: 'Carte',
    flash: 'Flash',
    bank_transfer: 'Virement bancaire',
    google_pay: 'Google Pay',
    apple_pay: 'Apple Pay',
  },
  done: {
    session_created: 'La session est prête. Conservez son jeton : il n’est montré qu’une fois.',
    otp_sent:
      'Nous avons envoyé un code à six chiffres au {sent_to}. Il est valable {minutes, plural, one {# minute} other {# minutes}}.',
    otp_verified: 'Le code est correct et le paiement est accepté. Merci.',
    proof_received: 'Nous avons reçu la preuve du virement. Elle est vérifiée avant que le paiement soit accepté.',
    delivery_released: 'L’argent de ce paiement a été libéré au profit du marchand.',
    payout_accepted: 'Le versement est accepté et en cours d’envoi.',
    payout_scheduled: 'Le versement est accepté. Il sera envoyé le {date} pour la première fois.',
    payout_approval: 'Le versement est accepté et attend l’approbation d’un opérateur.',
    payout_checked: 'Le versement a été vérifié et serait accepté. Rien n’a été créé.',
  },
  sms: {
    code: '{code} est votre code pour payer {amount} {currency} à {merchant}. Il expire dans {minutes, plural, one {# minute} other {# minutes}}. Ne le donnez à personne.',
  },
  page: {
    index_title: 'Erreurs',
    index_intro:
      'Chaque erreur est un objet JSON de la même forme. error_code ne change jamais avec la langue ; message s’adresse aux personnes.',
    title: 'Erreur {code} : {name}',
    cause: 'Ce qui s’est passé',
    remedy: 'Que faire',
    http_status: 'Statut HTTP',
    retry: 'Réessayer ?',
    retry_yes:
      'Oui : le même appel peut réussir plus tard sans changement. Attendez au moins le temps indiqué par retry_after.',
    retry_no: 'Non : le même appel sera de nouveau refusé tant que rien n’y aura changé, ni dans le compte.',
    retry_sometimes:
      'Seulement si retryable vaut true dans la réponse : la première requête est alors encore en cours.',
    summary: 'Classe dans le SDK',
    example: 'Exemple',
    example_intro: 'La réponse a cette forme. Les identifiants et les heures sont des exemples.',
    code: 'Code',
    name: 'Nom',
    all_errors: 'Toutes les erreurs',
    details_title: 'Détails',
    details_intro:
      'Quand des champs sont en cause, details les énumère tous à la fois. Le code de chacun dit ce qui n’allait pas.',
    reasons_title: 'Raisons',
    reasons_intro:
      'La raison pour laquelle un paiement, une ligne de versement ou un remboursement s’est terminé ainsi est aussi un code : reason, ou failure.code d’un remboursement. Il peut y en avoir de nouveaux un jour : prenez un code inconnu pour « cela n’a pas abouti ».',
    language: 'Langue',
    skip: 'Aller au texte',
    group_10: 'Identifiants d’accès',
    group_11: 'Ce qui a été envoyé',
    group_12: 'Argent et états',
    group_13: 'Limites et preuves',
    group_14: 'Service et réseaux',
    group_15: 'Résultat du traitement',
  },
} as const satisfies Sentences;
