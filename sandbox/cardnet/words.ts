/**
 * The words of the issuer's page and the names of the card fields, in six languages.
 * Invariant: the type demands every text in every language; the page fills in the `{…}`.
 */
import { keepTogether, type Language } from '../pages/languages.ts';
import type { CardField } from './card-input.ts';
import type { ChallengeAnswer } from './challenges.ts';

/** A button and what it does. */
type Choice = readonly [label: string, meaning: string];

export type IssuerWords = {
  readonly bank: string;
  readonly title: string;
  readonly about: string;
  readonly merchant: string;
  readonly card: string;
  readonly order: string;
  readonly minutesLeft: string;
  readonly choices: Readonly<Record<ChallengeAnswer | 'timeout', Choice>>;
  readonly returnTitle: string;
  readonly returnAbout: string;
  readonly goOn: string;
  readonly silenceTitle: string;
  readonly silenceAbout: string;
  readonly back: string;
  readonly unknownTitle: string;
  readonly unknownAbout: string;
  readonly language: string;
};

export const issuerWords: Readonly<Record<Language, IssuerWords>> = {
  en: {
    bank: 'Bank of the River',
    title: 'Is it you who is paying?',
    about: 'This is the card’s bank in the sandbox. Decide what it finds out about its customer.',
    merchant: 'Shop',
    card: 'Card',
    order: 'Order',
    minutesLeft: 'Minutes left to answer: {minutes}',
    choices: {
      pass: ['Pass', 'The customer is recognised, and the payment goes on.'],
      fail: ['Fail', 'The code was wrong, and the payment is refused.'],
      cancel: ['Cancel', 'The customer goes back without answering.'],
      timeout: ['Time out', 'The bank falls silent; the network ends it after ten minutes.'],
    },
    returnTitle: 'Back to the payment',
    returnAbout: 'The bank has decided. You are being taken back to where you are paying.',
    goOn: 'Continue',
    silenceTitle: 'The bank does not answer',
    silenceAbout: 'Nothing goes back to the shop. The question stays open until its ten minutes are over.',
    back: 'Back to the question',
    unknownTitle: 'There is no such question',
    unknownAbout: 'The sandbox was started anew, or the address is wrong. Go back to the shop and pay again.',
    language: 'Language',
  },
  fr: keepTogether({
    bank: 'Banque du Fleuve',
    title: 'Est-ce bien vous qui payez ?',
    about: 'Voici la banque de la carte, en bac à sable. Décidez de ce qu’elle apprend de son client.',
    merchant: 'Boutique',
    card: 'Carte',
    order: 'Commande',
    minutesLeft: 'Minutes restantes pour répondre : {minutes}',
    choices: {
      pass: ['Réussir', 'Le client est reconnu et le paiement continue.'],
      fail: ['Échouer', 'Le code était faux et le paiement est refusé.'],
      cancel: ['Annuler', 'Le client revient sans répondre.'],
      timeout: ['Laisser expirer', 'La banque se tait ; le réseau abandonne après dix minutes.'],
    },
    returnTitle: 'Retour au paiement',
    returnAbout: 'La banque a décidé. Nous vous ramenons là où vous payez.',
    goOn: 'Continuer',
    silenceTitle: 'La banque ne répond pas',
    silenceAbout: 'Rien ne revient à la boutique. La question reste ouverte jusqu’à la fin de ses dix minutes.',
    back: 'Revenir à la question',
    unknownTitle: 'Cette question n’existe pas',
    unknownAbout: 'Le bac à sable a redémarré, ou l’adresse est fausse. Revenez à la boutique et payez de nouveau.',
    language: 'Langue',
  }),
  es: {
    bank: 'Banco del Río',
    title: '¿Es usted quien paga?',
    about: 'Este es el banco de la tarjeta en el entorno de pruebas. Decida qué averigua sobre su cliente.',
    merchant: 'Tienda',
    card: 'Tarjeta',
    order: 'Pedido',
    minutesLeft: 'Minutos restantes para responder: {minutes}',
    choices: {
      pass: ['Aprobar', 'Se reconoce al cliente y el pago sigue adelante.'],
      fail: ['Fallar', 'El código era incorrecto y el pago se rechaza.'],
      cancel: ['Cancelar', 'El cliente vuelve sin responder.'],
      timeout: ['Dejar vencer', 'El banco calla; la red lo termina a los diez minutos.'],
    },
    returnTitle: 'De vuelta al pago',
    returnAbout: 'El banco ha decidido. Le llevamos de vuelta adonde está pagando.',
    goOn: 'Continuar',
    silenceTitle: 'El banco no responde',
    silenceAbout: 'No vuelve nada a la tienda. La pregunta sigue abierta hasta que pasen sus diez minutos.',
    back: 'Volver a la pregunta',
    unknownTitle: 'Esta pregunta no existe',
    unknownAbout: 'El entorno se reinició o la dirección es errónea. Vuelva a la tienda y pague de nuevo.',
    language: 'Idioma',
  },
  ru: {
    bank: 'Речной банк',
    title: 'Это вы платите?',
    about: 'Это банк карты в песочнице. Решите, что он узнает о своём клиенте.',
    merchant: 'Магазин',
    card: 'Карта',
    order: 'Заказ',
    minutesLeft: 'Осталось минут на ответ: {minutes}',
    choices: {
      pass: ['Пройти', 'Клиент узнан, и платёж продолжается.'],
      fail: ['Не пройти', 'Код был неверным, и платёж отклонён.'],
      cancel: ['Отменить', 'Клиент возвращается, не ответив.'],
      timeout: ['Не отвечать', 'Банк молчит; через десять минут сеть прекращает ждать.'],
    },
    returnTitle: 'Назад к платежу',
    returnAbout: 'Банк принял решение. Вы возвращаетесь туда, где платите.',
    goOn: 'Продолжить',
    silenceTitle: 'Банк не отвечает',
    silenceAbout: 'В магазин ничего не возвращается. Вопрос открыт, пока не пройдут его десять минут.',
    back: 'Вернуться к вопросу',
    unknownTitle: 'Такого вопроса нет',
    unknownAbout: 'Песочницу запустили заново, или адрес неверен. Вернитесь в магазин и заплатите снова.',
    language: 'Язык',
  },
  zh: {
    bank: '河流银行',
    title: '是您本人在付款吗？',
    about: '这是沙盒中的发卡银行。请决定银行对客户的核实结果。',
    merchant: '商店',
    card: '银行卡',
    order: '订单',
    minutesLeft: '剩余作答分钟数：{minutes}',
    choices: {
      pass: ['通过', '客户身份得到确认，付款继续。'],
      fail: ['不通过', '验证码错误，付款被拒绝。'],
      cancel: ['取消', '客户未作答便返回。'],
      timeout: ['超时', '银行不再响应；十分钟后卡网络将其结束。'],
    },
    returnTitle: '返回付款',
    returnAbout: '银行已作出决定。正在带您返回付款页面。',
    goOn: '继续',
    silenceTitle: '银行没有回应',
    silenceAbout: '商店不会收到任何内容。在十分钟结束之前，该问题仍可作答。',
    back: '返回问题',
    unknownTitle: '没有这个问题',
    unknownAbout: '沙盒已重新启动，或者地址有误。请返回商店重新付款。',
    language: '语言',
  },
  ln: {
    bank: 'Banki ya Ebale',
    title: 'Ezali yo moto ozali kofuta?',
    about: 'Oyo ezali banki ya carte na esika ya komeka. Pona oyo banki ekoyeba mpo na client na yango.',
    merchant: 'Butiki',
    card: 'Carte',
    order: 'Komande',
    minutesLeft: 'Miniti etikali mpo na koyanola: {minutes}',
    choices: {
      pass: ['Koleka', 'Client ayebani, mpe lifuti ekokoba.'],
      fail: ['Kolonga te', 'Code ezalaki ya mabe, mpe lifuti eboyami.'],
      cancel: ['Kolongola', 'Client azongi kozanga koyanola.'],
      timeout: ['Kotika ntango eleka', 'Banki eyanoli te; réseau ekosukisa yango nsima ya miniti zomi.'],
    },
    returnTitle: 'Kozonga na lifuti',
    returnAbout: 'Banki ezwi ekateli. Tozali kozongisa yo esika ozali kofuta.',
    goOn: 'Kokoba',
    silenceTitle: 'Banki ezali koyanola te',
    silenceAbout: 'Eloko ezongi na butiki te. Motuna ekotikala polele kino miniti zomi ekosila.',
    back: 'Zonga na motuna',
    unknownTitle: 'Motuna oyo ezali te',
    unknownAbout: 'Esika ya komeka ebandi lisusu, to adresse ezali ya mabe. Zonga na butiki mpe futa lisusu.',
    language: 'Lokota',
  },
};

/** The name of a field when the embedding page gave it no label. */
export const fieldNames: Readonly<Record<Language, Readonly<Record<CardField, string>>>> = {
  en: {
    cardNumber: 'Card number',
    expiryMonth: 'Expiry month',
    expiryYear: 'Expiry year',
    securityCode: 'Security code',
    nameOnCard: 'Name on the card',
  },
  fr: {
    cardNumber: 'Numéro de carte',
    expiryMonth: 'Mois d’expiration',
    expiryYear: 'Année d’expiration',
    securityCode: 'Code de sécurité',
    nameOnCard: 'Nom sur la carte',
  },
  es: {
    cardNumber: 'Número de tarjeta',
    expiryMonth: 'Mes de caducidad',
    expiryYear: 'Año de caducidad',
    securityCode: 'Código de seguridad',
    nameOnCard: 'Nombre en la tarjeta',
  },
  ru: {
    cardNumber: 'Номер карты',
    expiryMonth: 'Срок действия: месяц',
    expiryYear: 'Срок действия: год',
    securityCode: 'Код безопасности',
    nameOnCard: 'Имя на карте',
  },
  zh: {
    cardNumber: '卡号',
    expiryMonth: '有效期（月）',
    expiryYear: '有效期（年）',
    securityCode: '安全码',
    nameOnCard: '持卡人姓名',
  },
  ln: {
    cardNumber: 'Nimero ya carte',
    expiryMonth: 'Sanza ya nsuka',
    expiryYear: 'Mobu ya nsuka',
    securityCode: 'Code ya libateli',
    nameOnCard: 'Nkombo oyo ezali na carte',
  },
};
