/**
 * The shop in Spanish.
 * Invariant: every sentence says what happened and what to do next.
 */
import type { ShopWords } from './shop-words.ts';

export const es: ShopWords = {
  demo: 'Tienda de demostración: aquí no se vende nada de verdad ni se mueve dinero real.',
  sandbox: 'Entorno de pruebas Mbongo',
  language: 'Idioma',
  currency: 'Moneda',
  skip: 'Ir al contenido',
  shop: 'Tienda',
  cart: 'Carrito',
  orders: 'Pedidos',
  inCart: 'en el carrito: {n}',

  title: 'Las cosas buenas de la orilla del lago',
  lead: 'El café de las colinas, la tela del mercado, la luz de la tarde. De Goma a Kinshasa.',
  goods: {
    coffee: { name: 'Café del Kivu', about: 'Arábica de las colinas de Kalehe, tostado en Goma. 500 g.' },
    wax: { name: 'Tela wax', about: 'Seis yardas de algodón estampado: un vestido y su pañuelo.' },
    honey: { name: 'Miel de bosque', about: 'Oscura, del borde de la selva del Ituri. 350 g.' },
    charger: { name: 'Cargador de teléfono', about: 'USB-C, 20 W, con un cable de dos metros.' },
    chocolate: { name: 'Chocolate negro', about: 'Cacao de Beni, 72 %. Dos tabletas de 80 g.' },
    basket: { name: 'Cesta trenzada', about: 'Sisal y fibra de plátano, hecha a mano en Bukavu.' },
    tea: { name: 'Té negro', about: 'De las laderas sobre el lago. 250 g, a granel.' },
    solar: { name: 'Kit solar', about: 'Un panel, una batería y dos lámparas: cuatro noches de luz.' },
  },
  add: 'Añadir al carrito',
  added: 'En su carrito: {n}',
  toCart: 'Ver el carrito',

  noGateway: {
    title: 'La caja aún no está conectada',
    about:
      'La pasarela entrega su credencial a esta tienda cuando arranca en modo de pruebas con un comercio de demostración. Para conectar otro comercio, ejecute esto en la misma máquina:',
  },

  cartTitle: 'Su carrito',
  cartEmpty: { title: 'Todavía está vacío', about: 'Elija algo en la tienda y lo encontrará aquí.' },
  toShop: 'Ir a la tienda',
  each: '{amount} por unidad',
  more: 'Uno más: {name}',
  less: 'Uno menos: {name}',
  remove: 'Quitar',
  total: 'Total',
  feesMayCome: 'Sin comisiones; la página de pago las muestra antes de que pague.',
  buy: 'Comprar por {amount}',
  thenPay: 'Elija cómo pagar en la página de la pasarela y después vuelva aquí.',
  advanced: 'Para quienes prueban: comisiones y entrega',
  fees: 'Las comisiones las paga',
  feesBy: { buyer: 'el comprador', merchant: 'la tienda' },
  delivery: 'La tienda recibe el dinero',
  deliveries: { direct_delivery: 'enseguida', delayed_delivery: 'más tarde, cuando se libera' },

  trouble: 'No se pudo iniciar el pago',
  noAnswer: 'El servicio de pago no responde en este momento. Espere un poco y vuelva a intentarlo.',
  notCharged: 'No se ha cobrado nada y su carrito sigue como estaba.',
  tryAgain: 'Volver a intentar',

  order: 'Pedido {reference}',
  state: {
    waiting: 'en espera',
    paid: 'pagado',
    refused: 'no pagado',
    cancelled: 'cancelado',
    expired: 'caducado',
    refunded: 'reembolsado',
  },
  outcome: {
    waiting: { title: 'Aún sin pagar', about: 'Entretanto le guardamos el pedido.' },
    paid: { title: 'Gracias, está pagado', about: 'Estamos preparando su pedido. Este es su recibo.' },
    refused: {
      title: 'El pago no se completó',
      about: 'No se ha tomado dinero. Compre de nuevo con otro número u otra forma de pago.',
    },
    cancelled: {
      title: 'El pago fue cancelado',
      about: 'No se ha tomado dinero. Si cambia de opinión otra vez, compre de nuevo.',
    },
    expired: {
      title: 'El plazo para pagar ha terminado',
      about: 'Nadie confirmó a tiempo. Compre de nuevo; si aun así salió dinero de su cuenta, se lo devolvemos.',
    },
    refunded: {
      title: 'Le hemos devuelto el dinero',
      about: 'Vuelve por el mismo camino por el que vino. Compre de nuevo cuando quiera.',
    },
  },
  waitsFor: {
    pending: 'Le esperamos: elija cómo pagar en la página de pago.',
    processing: 'Esperamos la respuesta del operador o del banco. Usted no tiene que hacer nada.',
    pending_otp_verification: 'Esperamos el código que recibió por SMS: escríbalo en la página de pago.',
    pending_mobile_money_verification: 'Esperamos su confirmación en el teléfono: escriba allí su PIN.',
    pendingBankProofUpload: 'Esperamos el comprobante de su transferencia: súbalo en la página de pago.',
  },
  looksAgain: 'Esta página vuelve a mirar por sí sola cada pocos segundos.',
  look: 'Mirar de nuevo',
  cannotAsk: 'No podemos preguntar al servicio de pago en este momento:',
  goOn: 'Continuar a la página de pago',
  buyAgain: 'Comprar de nuevo',
  offline: 'Conexión perdida. Reintentando…',
  noOrder: {
    title: 'No conocemos este pedido',
    about: 'Puede que la dirección esté incompleta o que la tienda se haya reiniciado: entonces olvida sus pedidos.',
  },

  receipt: 'Recibo',
  transaction: 'Transacción',
  learned: 'Cómo lo sabemos',
  byWebhook: 'webhook verificado, {time}',
  byAsking: 'preguntado a la pasarela, {time}',
  notYet: 'aún no se sabe',

  ordersTitle: 'Pedidos',
  ordersLead: 'Lo que la tienda sabe de cada pago, y por quién: nunca se cree a un navegador que vuelve.',
  noOrders: { title: 'Aún no hay pedidos', about: 'Compre algo en la tienda y aparecerá aquí enseguida.' },
  reference: 'Pedido',
  amount: 'Importe',
  status: 'Estado',
  ordered: 'Fecha',
};
