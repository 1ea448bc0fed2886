/**
 * The shop in French.
 * Invariant: every sentence says what happened and what to do next.
 */
import type { ShopWords } from './shop-words.ts';

export const fr: ShopWords = {
  demo: 'Boutique de démonstration : rien n’y est vraiment vendu, aucun argent réel ne circule.',
  sandbox: 'Bac à sable Mbongo',
  language: 'Langue',
  currency: 'Devise',
  skip: 'Aller au contenu',
  shop: 'Boutique',
  cart: 'Panier',
  orders: 'Commandes',
  inCart: 'dans le panier : {n}',

  title: 'Les bonnes choses du bord du lac',
  lead: 'Le café des collines, le pagne du marché, la lumière du soir. De Goma à Kinshasa.',
  goods: {
    coffee: { name: 'Café du Kivu', about: 'Arabica des collines de Kalehe, torréfié à Goma. 500 g.' },
    wax: { name: 'Pagne wax', about: 'Six yards de coton imprimé : une robe et son foulard.' },
    honey: { name: 'Miel de forêt', about: 'Sombre, de la lisière de la forêt de l’Ituri. 350 g.' },
    charger: { name: 'Chargeur de téléphone', about: 'USB-C, 20 W, avec un câble de deux mètres.' },
    chocolate: { name: 'Chocolat noir', about: 'Cacao de Beni, 72 %. Deux tablettes de 80 g.' },
    basket: { name: 'Panier tressé', about: 'Sisal et fibre de bananier, fait main à Bukavu.' },
    tea: { name: 'Thé noir', about: 'Des pentes au-dessus du lac. 250 g, en vrac.' },
    solar: { name: 'Kit solaire', about: 'Un panneau, une batterie et deux lampes : quatre soirées de lumière.' },
  },
  add: 'Ajouter',
  added: 'Dans votre panier : {n}',
  toCart: 'Voir le panier',

  noGateway: {
    title: 'La caisse n’est pas encore reliée',
    about:
      'La passerelle remet ses identifiants à cette boutique quand elle démarre en mode bac à sable avec un marchand de démonstration. Pour relier un autre marchand, lancez ceci sur la même machine :',
  },

  cartTitle: 'Votre panier',
  cartEmpty: {
    title: 'Il est encore vide',
    about: 'Choisissez quelque chose dans la boutique : vous le retrouverez ici.',
  },
  toShop: 'Aller à la boutique',
  each: '{amount} l’unité',
  more: 'Un de plus : {name}',
  less: 'Un de moins : {name}',
  remove: 'Retirer',
  total: 'Total',
  feesMayCome: 'Hors frais ; la page de paiement les montre avant que vous payiez.',
  buy: 'Acheter pour {amount}',
  thenPay: 'Vous choisissez comment payer sur la page de la passerelle, puis vous revenez ici.',
  advanced: 'Pour les testeurs : frais et versement',
  fees: 'Les frais sont payés par',
  feesBy: { buyer: 'l’acheteur', merchant: 'la boutique' },
  delivery: 'La boutique reçoit l’argent',
  deliveries: { direct_delivery: 'tout de suite', delayed_delivery: 'plus tard, quand il est libéré' },

  trouble: 'Le paiement n’a pas pu commencer',
  noAnswer: 'Le service de paiement ne répond pas pour l’instant. Attendez un moment, puis réessayez.',
  notCharged: 'Rien n’a été débité, et votre panier est resté tel quel.',
  tryAgain: 'Réessayer',

  order: 'Commande {reference}',
  state: {
    waiting: 'en attente',
    paid: 'payée',
    refused: 'non payée',
    cancelled: 'annulée',
    expired: 'expirée',
    refunded: 'remboursée',
  },
  outcome: {
    waiting: { title: 'Pas encore payée', about: 'Nous gardons votre commande en attendant.' },
    paid: { title: 'Merci, c’est payé', about: 'Nous préparons votre commande. Voici votre reçu.' },
    refused: {
      title: 'Le paiement n’a pas abouti',
      about: 'Aucun argent n’a été pris. Achetez de nouveau, avec un autre numéro ou un autre moyen de paiement.',
    },
    cancelled: {
      title: 'Le paiement a été annulé',
      about: 'Aucun argent n’a été pris. Si vous changez encore d’avis, achetez de nouveau.',
    },
    expired: {
      title: 'Le délai de paiement est passé',
      about:
        'Personne n’a confirmé à temps. Achetez de nouveau ; si de l’argent a tout de même quitté votre compte, nous vous le renvoyons.',
    },
    refunded: {
      title: 'Nous vous avons remboursé',
      about: 'L’argent repart par le chemin d’où il est venu. Achetez de nouveau quand vous voudrez.',
    },
  },
  waitsFor: {
    pending: 'Nous vous attendons : choisissez comment payer sur la page de paiement.',
    processing: 'Nous attendons la réponse de l’opérateur ou de la banque. Vous n’avez rien à faire.',
    pending_otp_verification: 'Nous attendons le code reçu par SMS : entrez-le sur la page de paiement.',
    pending_mobile_money_verification:
      'Nous attendons votre confirmation sur votre téléphone : entrez-y votre code PIN.',
    pendingBankProofUpload: 'Nous attendons la preuve de votre virement : déposez-la sur la page de paiement.',
  },
  looksAgain: 'Cette page regarde de nouveau d’elle-même toutes les quelques secondes.',
  look: 'Regarder de nouveau',
  cannotAsk: 'Nous ne pouvons pas interroger le service de paiement pour l’instant :',
  goOn: 'Continuer vers la page de paiement',
  buyAgain: 'Acheter de nouveau',
  offline: 'Connexion perdue. Nouvel essai…',
  noOrder: {
    title: 'Nous ne connaissons pas cette commande',
    about: 'L’adresse est peut-être incomplète, ou la boutique a redémarré depuis : elle oublie alors ses commandes.',
  },

  receipt: 'Reçu',
  transaction: 'Transaction',
  learned: 'Comment nous le savons',
  byWebhook: 'webhook vérifié, {time}',
  byAsking: 'demandé à la passerelle, {time}',
  notYet: 'pas encore connu',

  ordersTitle: 'Commandes',
  ordersLead:
    'Ce que la boutique sait de chaque paiement, et de qui : un navigateur qui revient n’est jamais cru sur parole.',
  noOrders: {
    title: 'Pas encore de commande',
    about: 'Achetez quelque chose dans la boutique : la commande apparaît ici aussitôt.',
  },
  reference: 'Commande',
  amount: 'Montant',
  status: 'État',
  ordered: 'Commandée',
};
