/**
 * The words of the virtual phone in six languages.
 * Invariant: the type demands every text in every language; `fill` fills in the `{…}`.
 */
import type { Ending } from '../carriers/endings.ts';
import { keepTogether, type Language } from '../pages/languages.ts';
import type { PromptStatus } from './phones.ts';

export type PhoneWords = {
  readonly links: readonly [string, string, string, string];
  readonly language: string;
  readonly title: string;
  readonly about: string;
  readonly pinIs: string;
  readonly tryTitle: string;
  readonly tries: readonly [string, string, string];
  readonly anotherNumber: string;
  /** Shown beside the field if the number is impossible. */
  readonly badNumber: string;
  readonly open: string;
  readonly numbersTitle: string;
  readonly ending: string;
  readonly behaviour: string;
  readonly endings: Readonly<Record<Ending, string>>;
  /** Stands in the place of an ending, for all that are not listed. */
  readonly anyOther: string;
  readonly other: string;
  readonly payTo: string;
  readonly expiresIn: string;
  readonly pin: string;
  readonly pinDigit: string;
  readonly wrongPin: string;
  readonly approve: string;
  readonly reject: string;
  readonly ignore: string;
  readonly showAgain: string;
  readonly byItself: string;
  readonly idle: string;
  readonly history: string;
  readonly status: Readonly<Record<PromptStatus, string>>;
  readonly copy: string;
  readonly copied: string;
  readonly refresh: string;
  readonly newPrompt: string;
  readonly received: string;
  readonly offline: string;
};

/** Puts values into the `{name}`s of a sentence. */
export function fill(sentence: string, values: Readonly<Record<string, string | number>>): string {
  return sentence.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

export const phoneWords: Readonly<Record<Language, PhoneWords>> = {
  en: {
    links: ['Start', 'Phone', 'Inboxes', 'Control'],
    language: 'Language',
    title: 'Sandbox phone',
    about: 'This is the customer’s handset. Prompts and codes that the carriers would push appear here at once.',
    pinIs: 'The PIN is',
    tryTitle: 'Try',
    tries: [
      'Approve, and watch the payment settle.',
      'Reject it, or let it time out.',
      'Open another number in a new tab.',
    ],
    anotherNumber: 'Another number',
    badNumber: 'Six to fifteen digits, beginning with the country’s code: +243 810 000 042.',
    open: 'Open phone',
    numbersTitle: 'Numbers that decide by themselves',
    ending: 'Ending',
    behaviour: 'What happens',
    endings: {
      '01': 'approves after 1 s',
      '02': 'insufficient funds',
      '03': 'customer rejects',
      '04': 'never answers',
      '05': 'carrier times out, and yet pays',
      '06': 'carrier down',
      '07': 'callback three times, out of order',
      '08': 'no callback, only polling finds it',
    },
    anyOther: 'any other',
    other: 'waits for this phone',
    payTo: 'Pay',
    expiresIn: 'Time left',
    pin: 'PIN',
    pinDigit: 'PIN digit {n} of 4',
    wrongPin: 'Wrong PIN. Type 0000. Attempts left: {left}.',
    approve: 'Approve',
    reject: 'Reject',
    ignore: 'Ignore for now',
    showAgain: 'Show the waiting request',
    byItself: 'This number decides by itself:',
    idle: 'No request yet. Pay with this number as the mobile-money phone, and the request appears here.',
    history: 'What happened',
    status: { pending: 'waiting', approved: 'approved', rejected: 'rejected', expired: 'expired', failed: 'failed' },
    copy: 'Copy {code}',
    copied: 'Copied',
    refresh: 'Refresh',
    newPrompt: 'New request: {merchant}, {amount}.',
    received: 'You have received {amount}.',
    offline: 'Connection lost. Trying again…',
  },
  fr: keepTogether({
    links: ['Accueil', 'Téléphone', 'Boîtes', 'Contrôle'],
    language: 'Langue',
    title: 'Téléphone de test',
    about:
      'Voici le téléphone du client. Les demandes et les codes qu’enverraient les opérateurs s’y affichent aussitôt.',
    pinIs: 'Le code PIN est',
    tryTitle: 'À essayer',
    tries: [
      'Confirmez, et regardez le paiement aboutir.',
      'Refusez, ou laissez expirer.',
      'Ouvrez un autre numéro dans un onglet.',
    ],
    anotherNumber: 'Un autre numéro',
    badNumber: 'Six à quinze chiffres, en commençant par l’indicatif du pays : +243 810 000 042.',
    open: 'Ouvrir',
    numbersTitle: 'Les numéros qui décident seuls',
    ending: 'Fin',
    behaviour: 'Ce qui se passe',
    endings: {
      '01': 'accepte après 1 s',
      '02': 'solde insuffisant',
      '03': 'le client refuse',
      '04': 'ne répond jamais',
      '05': 'l’opérateur ne répond pas, mais débite',
      '06': 'opérateur en panne',
      '07': 'trois rappels, dans le désordre',
      '08': 'aucun rappel : il faut interroger',
    },
    anyOther: 'toute autre',
    other: 'attend ce téléphone',
    payTo: 'Payer à',
    expiresIn: 'Temps restant',
    pin: 'Code PIN',
    pinDigit: 'Code PIN, chiffre {n} sur 4',
    wrongPin: 'Code faux. Tapez 0000. Essais restants : {left}.',
    approve: 'Confirmer',
    reject: 'Refuser',
    ignore: 'Ignorer pour l’instant',
    showAgain: 'Revoir la demande en attente',
    byItself: 'Ce numéro décide seul :',
    idle: 'Aucune demande. Payez avec ce numéro en mobile money, et la demande s’affiche ici.',
    history: 'Historique',
    status: { pending: 'en attente', approved: 'accepté', rejected: 'refusé', expired: 'expiré', failed: 'échoué' },
    copy: 'Copier {code}',
    copied: 'Copié',
    refresh: 'Actualiser',
    newPrompt: 'Nouvelle demande : {merchant}, {amount}.',
    received: 'Vous avez reçu {amount}.',
    offline: 'Connexion perdue. Nouvel essai…',
  }),
  es: {
    links: ['Inicio', 'Teléfono', 'Buzones', 'Control'],
    language: 'Idioma',
    title: 'Teléfono de prueba',
    about:
      'Este es el teléfono del cliente. Las solicitudes y los códigos que enviarían los operadores aparecen aquí al instante.',
    pinIs: 'El PIN es',
    tryTitle: 'Pruebe',
    tries: [
      'Apruebe y vea cómo se completa el pago.',
      'Rechácelo o deje que caduque.',
      'Abra otro número en otra pestaña.',
    ],
    anotherNumber: 'Otro número',
    badNumber: 'De seis a quince cifras, empezando por el prefijo del país: +243 810 000 042.',
    open: 'Abrir teléfono',
    numbersTitle: 'Números que deciden solos',
    ending: 'Final',
    behaviour: 'Qué ocurre',
    endings: {
      '01': 'aprueba tras 1 s',
      '02': 'saldo insuficiente',
      '03': 'el cliente rechaza',
      '04': 'nunca responde',
      '05': 'el operador no responde, pero cobra',
      '06': 'operador caído',
      '07': 'tres avisos, en desorden',
      '08': 'sin aviso: hay que consultar',
    },
    anyOther: 'otro',
    other: 'espera a este teléfono',
    payTo: 'Pagar a',
    expiresIn: 'Tiempo restante',
    pin: 'PIN',
    pinDigit: 'PIN, cifra {n} de 4',
    wrongPin: 'PIN incorrecto. Escriba 0000. Intentos restantes: {left}.',
    approve: 'Aprobar',
    reject: 'Rechazar',
    ignore: 'Ignorar por ahora',
    showAgain: 'Ver la solicitud pendiente',
    byItself: 'Este número decide solo:',
    idle: 'Ninguna solicitud. Pague con este número como dinero móvil y la solicitud aparecerá aquí.',
    history: 'Qué ha pasado',
    status: {
      pending: 'en espera',
      approved: 'aprobado',
      rejected: 'rechazado',
      expired: 'caducado',
      failed: 'fallido',
    },
    copy: 'Copiar {code}',
    copied: 'Copiado',
    refresh: 'Actualizar',
    newPrompt: 'Nueva solicitud: {merchant}, {amount}.',
    received: 'Ha recibido {amount}.',
    offline: 'Conexión perdida. Reintentando…',
  },
  ru: {
    links: ['Начало', 'Телефон', 'Ящики', 'Управление'],
    language: 'Язык',
    title: 'Тестовый телефон',
    about: 'Это телефон покупателя. Запросы и коды, которые прислали бы операторы, появляются здесь сразу.',
    pinIs: 'ПИН-код:',
    tryTitle: 'Попробуйте',
    tries: [
      'Подтвердите и посмотрите, как пройдёт платёж.',
      'Отклоните или дождитесь истечения срока.',
      'Откройте другой номер в новой вкладке.',
    ],
    anotherNumber: 'Другой номер',
    badNumber: 'От шести до пятнадцати цифр, начиная с кода страны: +243 810 000 042.',
    open: 'Открыть',
    numbersTitle: 'Номера, которые решают сами',
    ending: 'Конец',
    behaviour: 'Что происходит',
    endings: {
      '01': 'подтверждает через 1 с',
      '02': 'недостаточно средств',
      '03': 'покупатель отклоняет',
      '04': 'никогда не отвечает',
      '05': 'оператор молчит, но списывает',
      '06': 'оператор недоступен',
      '07': 'три уведомления не по порядку',
      '08': 'без уведомления, только опрос',
    },
    anyOther: 'другой',
    other: 'ждёт этот телефон',
    payTo: 'Оплатить:',
    expiresIn: 'Осталось',
    pin: 'ПИН-код',
    pinDigit: 'ПИН-код, цифра {n} из 4',
    wrongPin: 'Неверный ПИН-код. Введите 0000. Осталось попыток: {left}.',
    approve: 'Подтвердить',
    reject: 'Отклонить',
    ignore: 'Пока не отвечать',
    showAgain: 'Показать ожидающий запрос',
    byItself: 'Этот номер решает сам:',
    idle: 'Запросов нет. Оплатите мобильными деньгами с этого номера, и запрос появится здесь.',
    history: 'Что произошло',
    status: {
      pending: 'ожидает',
      approved: 'подтверждён',
      rejected: 'отклонён',
      expired: 'истёк',
      failed: 'не прошёл',
    },
    copy: 'Копировать {code}',
    copied: 'Скопировано',
    refresh: 'Обновить',
    newPrompt: 'Новый запрос: {merchant}, {amount}.',
    received: 'Вы получили {amount}.',
    offline: 'Связь потеряна. Пробуем снова…',
  },
  zh: {
    links: ['首页', '手机', '收件箱', '控制台'],
    language: '语言',
    title: '测试手机',
    about: '这是顾客的手机。运营商推送的付款请求和验证码会立即显示在这里。',
    pinIs: 'PIN 码是',
    tryTitle: '试一试',
    tries: ['确认付款，查看到账过程。', '拒绝，或让它过期。', '在新标签页打开另一个号码。'],
    anotherNumber: '另一个号码',
    badNumber: '六到十五位数字，以国家代码开头：+243 810 000 042。',
    open: '打开手机',
    numbersTitle: '自动决定的号码',
    ending: '尾号',
    behaviour: '结果',
    endings: {
      '01': '1 秒后确认',
      '02': '余额不足',
      '03': '顾客拒绝',
      '04': '永不回应',
      '05': '运营商超时，但仍扣款',
      '06': '运营商故障',
      '07': '三次回调，顺序错乱',
      '08': '无回调，只能查询',
    },
    anyOther: '其他',
    other: '等待这部手机',
    payTo: '付款给',
    expiresIn: '剩余时间',
    pin: 'PIN 码',
    pinDigit: 'PIN 码第 {n} 位，共 4 位',
    wrongPin: 'PIN 码错误。请输入 0000。剩余次数：{left}。',
    approve: '确认',
    reject: '拒绝',
    ignore: '暂时忽略',
    showAgain: '查看等待中的请求',
    byItself: '此号码自动决定：',
    idle: '还没有请求。用此号码进行移动支付，请求就会显示在这里。',
    history: '记录',
    status: { pending: '等待中', approved: '已确认', rejected: '已拒绝', expired: '已过期', failed: '失败' },
    copy: '复制 {code}',
    copied: '已复制',
    refresh: '刷新',
    newPrompt: '新的付款请求：{merchant}，{amount}。',
    received: '您已收到 {amount}。',
    offline: '连接中断，正在重试…',
  },
  ln: {
    links: ['Ebandeli', 'Telefone', 'Basanduku', 'Bokambi'],
    language: 'Lokota',
    title: 'Telefone ya komeka',
    about: 'Oyo ezali telefone ya client. Bosenga mpe bacode oyo baopérateur batindaka emonanaka awa mbala moko.',
    pinIs: 'PIN ezali',
    tryTitle: 'Meka',
    tries: ['Ndima, mpe tala ndenge lifuti ekosila.', 'Boya, to tika ntango eleka.', 'Fungola nimero mosusu.'],
    anotherNumber: 'Nimero mosusu',
    badNumber: 'Bachiffre motoba kino zomi na mitano, kobanda na code ya ekolo: +243 810 000 042.',
    open: 'Fungola',
    numbersTitle: 'Banimero oyo ezwaka bikateli yango moko',
    ending: 'Nsuka',
    behaviour: 'Oyo ekosalema',
    endings: {
      '01': 'endimi nsima ya segonde 1',
      '02': 'mbongo ekoki te',
      '03': 'client aboyi',
      '04': 'eyanolaka te',
      '05': 'opérateur ayanoli te, kasi afuti',
      '06': 'opérateur azali te',
      '07': 'biyano misato, na molongo te',
      '08': 'eyano te, kaka kotuna',
    },
    anyOther: 'mosusu',
    other: 'ezelaka telefone oyo',
    payTo: 'Kofuta na',
    expiresIn: 'Ntango etikali',
    pin: 'PIN',
    pinDigit: 'PIN, motango {n} na 4',
    wrongPin: 'PIN ya mabe. Koma 0000. Mbala etikali: {left}.',
    approve: 'Ndima',
    reject: 'Boya',
    ignore: 'Tika naino',
    showAgain: 'Tala bosenga oyo ezali kozela',
    byItself: 'Nimero oyo ezwaka ekateli yango moko:',
    idle: 'Bosenga ezali te. Futa na nimero oyo na mobile money, mpe bosenga ekomonana awa.',
    history: 'Oyo esalemaki',
    status: {
      pending: 'ezali kozela',
      approved: 'endimami',
      rejected: 'eboyami',
      expired: 'ntango eleki',
      failed: 'elongi te',
    },
    copy: 'Kopia {code}',
    copied: 'Ekopiami',
    refresh: 'Zongisa sika',
    newPrompt: 'Bosenga ya sika: {merchant}, {amount}.',
    received: 'Ozwi {amount}.',
    offline: 'Boyokani ekatani. Tozali komeka lisusu…',
  },
};
