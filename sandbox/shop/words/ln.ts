/**
 * The shop in Lingala, as it is spoken in Kinshasa.
 * Invariant: every sentence says what happened and what to do next.
 */
import type { ShopWords } from './shop-words.ts';

export const ln: ShopWords = {
  demo: 'Butiki ya komeka: eloko moko te etekami awa solo, mpe mbongo ya solo eningani te.',
  sandbox: 'Sandbox ya Mbongo',
  language: 'Lokota',
  currency: 'Devise',
  skip: 'Kende na kati',
  shop: 'Butiki',
  cart: 'Kitunga',
  orders: 'Bakomande',
  inCart: 'na kitunga: {n}',

  title: 'Biloko ya kitoko ya libongo ya laki',
  lead: 'Kawa ya bangomba, liputa ya zando, pole ya mpokwa. Banda Goma kino Kinshasa.',
  goods: {
    coffee: { name: 'Kawa ya Kivu', about: 'Arabica ya bangomba ya Kalehe, bakalingi yango na Goma. 500 g.' },
    wax: { name: 'Liputa ya wax', about: 'Bayard motoba ya coton: elamba moko mpe kitambala na yango.' },
    honey: { name: 'Mafuta ya nzoi ya zamba', about: 'Ya moindo, euti pembeni ya zamba ya Ituri. 350 g.' },
    charger: { name: 'Chargeur ya telefone', about: 'USB-C, 20 W, na nsinga ya bametre mibale.' },
    chocolate: { name: 'Chocolat ya moindo', about: 'Cacao ya Beni, 72 %. Biteni mibale ya 80 g.' },
    basket: { name: 'Ekolo ya maboko', about: 'Sisal mpe nsinga ya etabe, basali yango na maboko na Bukavu.' },
    tea: { name: 'Ti ya moindo', about: 'Euti na bangomba likolo ya laki. 250 g.' },
    solar: { name: 'Kit ya moi', about: 'Panneau, batterie mpe miinda mibale: pole ya bampokwa minei.' },
  },
  add: 'Tya na kitunga',
  added: 'Na kitunga na yo: {n}',
  toCart: 'Tala kitunga',

  noGateway: {
    title: 'Caisse ekangami naino na gateway te',
    about:
      'Gateway epesaka butiki oyo fungola na yango soki ebandi na mode ya sandbox na moteki ya komeka. Mpo na kokanga moteki mosusu, sala oyo na masini wana moko:',
  },

  cartTitle: 'Kitunga na yo',
  cartEmpty: { title: 'Eloko ezali naino te', about: 'Pona eloko na butiki, mpe ekozela yo awa.' },
  toShop: 'Kende na butiki',
  each: '{amount} mpo na moko',
  more: 'Bakisa moko: {name}',
  less: 'Longola moko: {name}',
  remove: 'Longola',
  total: 'Nyonso',
  feesMayCome: 'Liboso ya frais; lokasa ya lifuti ekolakisa yango liboso ofuta.',
  buy: 'Somba na {amount}',
  thenPay: 'Okopona lolenge ya kofuta na lokasa ya gateway, mpe okozonga awa.',
  advanced: 'Mpo na bato ya komeka: frais mpe mbongo ya moteki',
  fees: 'Nani akofuta frais',
  feesBy: { buyer: 'mosombi', merchant: 'butiki' },
  delivery: 'Butiki ekozwa mbongo',
  deliveries: { direct_delivery: 'mbala moko', delayed_delivery: 'na nsima, ntango bakotika yango' },

  trouble: 'Lifuti ekoki kobanda te',
  noAnswer: 'Service ya lifuti ezali koyanola te. Zela mwa moke, na nsima meka lisusu.',
  notCharged: 'Mbongo elongwe te, mpe kitunga na yo ezali ndenge ezalaki.',
  tryAgain: 'Meka lisusu',

  order: 'Komande {reference}',
  state: {
    waiting: 'ezali kozela',
    paid: 'efutami',
    refused: 'efutami te',
    cancelled: 'elongolami',
    expired: 'ntango eleki',
    refunded: 'mbongo ezongi',
  },
  outcome: {
    waiting: { title: 'Efutami naino te', about: 'Tozali kobatela komande na yo.' },
    paid: { title: 'Matondi, efutami', about: 'Tozali kobongisa komande na yo. Oyo reçu na yo.' },
    refused: {
      title: 'Lifuti elongi te',
      about: 'Mbongo elongwe te. Somba lisusu na nimero mosusu to na lolenge mosusu.',
    },
    cancelled: { title: 'Lifuti elongolami', about: 'Mbongo elongwe te. Soki obongoli makanisi, somba lisusu.' },
    expired: {
      title: 'Ntango ya kofuta esili',
      about: 'Moto andimaki na ntango te. Somba lisusu; soki mbongo elongwe kaka na compte na yo, tokozongisa yango.',
    },
    refunded: {
      title: 'Tozongisi mbongo na yo',
      about: 'Ezali kozonga na nzela oyo eyaki. Somba lisusu ntango olingi.',
    },
  },
  waitsFor: {
    pending: 'Tozali kozela yo: pona lolenge ya kofuta na lokasa ya lifuti.',
    processing: 'Tozali kozela eyano ya opérateur to ya banki. Osengeli kosala eloko te.',
    pending_otp_verification: 'Tozali kozela code oyo ozwaki na SMS: koma yango na lokasa ya lifuti.',
    pending_mobile_money_verification: 'Tozali kozela ondima na telefone na yo: koma PIN na yo kuna.',
    pendingBankProofUpload: 'Tozali kozela elembeteli ya virement na yo: tya yango na lokasa ya lifuti.',
  },
  looksAgain: 'Lokasa oyo etalaka lisusu yango moko nsima ya mwa basegonde.',
  look: 'Tala lisusu',
  cannotAsk: 'Tokoki kotuna service ya lifuti sikoyo te:',
  goOn: 'Koba na lokasa ya lifuti',
  buyAgain: 'Somba lisusu',
  offline: 'Boyokani ekatani. Tozali komeka lisusu…',
  noOrder: {
    title: 'Toyebi komande oyo te',
    about: 'Adresse ekoki kozala mobimba te, to butiki ebandaki sika: na ntango wana ebosanaka bakomande na yango.',
  },

  receipt: 'Reçu',
  transaction: 'Transaction',
  learned: 'Ndenge toyebi',
  byWebhook: 'webhook etalami malamu, {time}',
  byAsking: 'totuni gateway, {time}',
  notYet: 'eyebani naino te',

  ordersTitle: 'Bakomande',
  ordersLead: 'Oyo butiki eyebi na lifuti moko na moko, mpe nani ayebisi: navigateur oyo ezongi endimamaka te.',
  noOrders: { title: 'Komande ezali naino te', about: 'Somba eloko na butiki, mpe ekomonana awa mbala moko.' },
  reference: 'Komande',
  amount: 'Motango',
  status: 'Ezaleli',
  ordered: 'Esengamaki',
};
