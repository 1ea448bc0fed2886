/**
 * What is wrong with one field or header of a call, or with the state that it meets, in Spanish: a sentence for each code of a detail.
 *
 * Invariant: it names the field where the reader has to change one, and the way out.
 */

import type { Sentences } from '../sentences.ts';

export const details = {
  REQUIRED: 'Falta {field}. Envíelo.',
  WRONG_TYPE: '{field} no es del tipo correcto. Envíelo como {type}.',
  TOO_LONG: '{field} es demasiado largo. Envíe como máximo {maximum}.',
  TOO_SHORT: '{field} es demasiado corto. Envíe al menos {minimum}.',
  NOT_AN_OPTION: '{field} no es uno de los valores posibles. Elija uno de estos: {options}.',
  OUT_OF_RANGE: '{field} debe estar entre {minimum} y {maximum}.',
  INVALID_FORMAT: '{field} no tiene la forma correcta. Consulte la documentación de este campo.',
  MALFORMED_PIN: '{field} no es un PIN. Envíe sus cuatro a ocho dígitos como cadena de texto.',
  MALFORMED_OTP: '{field} no es un código de un solo uso. Envíe sus seis dígitos como cadena de texto.',
  INVALID_AMOUNT:
    '{field} no es un importe válido. Escriba un número decimal mayor que cero, como texto, por ejemplo “12.50”, sin más decimales que los de la moneda.',
  INVALID_CURRENCY: '{field} no es una moneda aceptada. Escriba sus tres letras en minúsculas, por ejemplo usd o cdf.',
  CURRENCY_NOT_ALLOWED: 'Este comercio no puede usar esa moneda. Elija una de estas: {currencies}.',
  BINDING_DRIFT: '{field} difiere de lo que se fijó al crear la sesión. Omítalo o cree una sesión nueva.',
  INVALID_PHONE_NUMBER:
    '{field} no es un número de teléfono válido. Escríbalo en formato internacional, por ejemplo +243 810 000 042.',
  INVALID_EMAIL: '{field} no es una dirección de correo válida. Corríjala y envíela de nuevo.',
  INVALID_URL:
    '{field} no es una dirección a la que se pueda llamar. Envíe una dirección https pública, sin contraseña, fragmento ni puerto inusual. Un sandbox acepta también http.',
  URL_NOT_ALLOWED: '{field} nombra un servidor que este comercio no ha autorizado. Servidores autorizados: {options}.',
  INVALID_TEXT: '{field} contiene caracteres que no forman un texto válido. Quítelos.',
  INVALID_JSON: 'El cuerpo no es JSON válido. Envíe un objeto JSON.',
  DUPLICATE_KEY: '{field} aparece dos veces. Envíelo una sola vez.',
  TOO_DEEP: '{field} está anidado a demasiada profundidad. Envíe un cuerpo más plano.',
  DATES_REVERSED: '{field} es anterior al comienzo del período. Envíe las dos fechas en orden.',
  SPAN_TOO_LONG: '{field} hace que el período supere {days} días. Pida períodos más cortos, uno tras otro.',
  INVALID_CURSOR:
    '{field} no procede de esta llamada o pertenece a otro período. Envíe next_cursor tal como era, u omítalo.',
  CARD_DATA: '{field} parece un dato de tarjeta, que nunca debe enviarse aquí. Use el formulario de tarjeta alojado.',
  DUPLICATE_HEADER: 'El encabezado {field} se envió más de una vez. Envíelo una sola vez.',
  INVALID_IDEMPOTENCY_KEY: 'Idempotency-Key debe tener de 1 a 255 caracteres ASCII visibles.',
  INVALID_DEVICE_FINGERPRINT: 'X-Device-Fingerprint debe tener exactamente 64 caracteres hexadecimales.',
  UNKNOWN_PAYMENT_METHOD: '{field} no nombra ningún método de pago de este comercio. Elija uno de estos: {options}.',
  METHOD_NOT_AVAILABLE: 'El método {method} no está disponible aquí. Elija uno de estos: {options}.',
  METHOD_MISMATCH: '{field} no es el método con el que se inició este pago. Elija uno de estos: {options}.',
  NO_CARRIER:
    'Ningún operador de dinero móvil atiende este número en esta moneda. Operadores que aceptan la moneda: {countries}.',
  CARRIER_CURRENCY: '{carrier} no acepta esta moneda. Acepta: {currencies}.',
  DIRECT_CAPTURE: 'DIRECT_CAPTURE aún no está disponible. Use HOSTED_SESSION.',
  SESSION_CONSUMED:
    'Ya se envió un pago con esta sesión. Consulte su estado antes de iniciar otro; cree una sesión nueva solo si terminó sin cobrarse.',
  SESSION_EXPIRED: 'Esta sesión ha caducado. Cree una nueva; si envió un pago con ella, consulte primero ese pago.',
  EXPIRED_AFTER_SUBMIT:
    'Esta sesión ha caducado, después de que se enviara un pago con ella. Consulte ese pago con otra sesión o con la credencial del comercio, y verifique su código o suba su comprobante con otra sesión; inicie otro pago solo si terminó sin cobrarse.',
  CREDENTIAL_FORM:
    'No se envió ninguna credencial utilizable. Envíe {field} con Bearer, un espacio y, o bien la clave del comercio (key_), dos puntos y su secreto (sk_), o bien el token de una sesión (sess_).',
  OTHER_SESSION:
    'Este pago se inició con otra sesión. Envíelo con el token de aquella; si ha caducado, inicie otro cobro cuando este pago haya terminado sin cobrarse.',
  OTHER_ID: 'Esto es un {given}, y esta llamada pide el {wanted} del pago. Envíe ese.',
  WRONG_CREDENTIAL_KIND:
    'Esta llamada requiere el otro tipo de credencial: la del comercio para sus propias llamadas, un token de sesión para los pagos.',
  ADDRESS_NOT_ALLOWED: 'Esta credencial no puede usarse desde su dirección. Llame desde una dirección autorizada.',
  SCOPE_MISSING: 'Las sesiones de este comercio deben decir para qué son. Envíe scope: collect o payout.',
  WRONG_SCOPE: 'Esta sesión no se creó para esto. Cree una con el scope {scope}.',
  SESSION_COLLECTED: 'Esta sesión ya ha cobrado un pago. Cree una con el scope payout y envíe el desembolso con ella.',
  SESSION_ON_DEVICE:
    'Esta sesión está vinculada a un dispositivo, y los desembolsos los hace su servidor. Cree allí una con el scope payout y no envíe X-Device-Fingerprint con ella.',
  OTHER_DEVICE:
    '{field} no es el mismo con el que empezó esta sesión. Continúe con ese dispositivo o cree una sesión nueva.',
  DUPLICATE_BENEFICIARY:
    '{field} nombra a alguien a quien ya paga una línea anterior de esta llamada. Nombre a cada beneficiario una sola vez.',
  PAYOUT_TOTAL: 'Los importes suman más de {maximum} {currency}. Reparta el desembolso en varias llamadas.',
  SENDING_TYPE:
    '{given} es para desembolsos con fecha, y sin {field} el desembolso se haría de inmediato. Envíe {field} con scheduled o recurring, o con immediate para pagar ya.',
  INVALID_DATE: '{field} no es una fecha que exista. Escriba año, mes y día, por ejemplo 2027-01-31.',
  INVALID_INSTANT:
    '{field} no es ni un día, como 2026-11-30, ni un instante con su zona, como 2026-11-30T12:00:00Z. En una dirección, + se escribe %2B.',
  YEAR_OUT_OF_RANGE: '{field} es una fecha de un año que no se acepta aquí. Elija uno de {first} a {last}.',
  DATE_PAST:
    '{field} ya ha pasado: hoy es {today} en la zona horaria de sus desembolsos. Elija hoy o una fecha posterior.',
  DUPLICATE_DATE: '{field} repite una fecha. Nombre cada fecha una sola vez.',
  PAYOUT_FUNDS:
    'Su saldo disponible es de {available} {currency}, y este desembolso necesita {needed} {currency} con sus comisiones. Recargue el saldo o envíe menos.',
  NOT_RETRYABLE:
    '{field} está en el estado {state} y no puede pagarse de nuevo. Solo se pueden repetir las líneas que fallaron en el camino, una vez cada una: consulte el lote antes de continuar.',
  TAKEN_AFTER_ALL:
    '{field}: al final el operador lo aceptó: está pagado o aún no es seguro. No lo pague de otra forma; esta llamada lo aceptará de nuevo si el operador no pagó.',
  RETRIES_USED:
    'Lo que falló en este lote ya se pagó de nuevo {maximum} veces en vano. Averigüe por qué falla y haga un desembolso nuevo.',
  UNKNOWN_LINE: '{field} no es una línea de este lote. Tome los identificadores del propio lote.',
  NO_TARGET:
    'Este evento se creó sin notify_url: no hay adónde enviarlo. Lea su contenido aquí e indique un notify_url en sus próximas llamadas.',
  INVALID_PIN:
    'El número o el PIN no es correcto. {left, plural, =0 {No quedan intentos por ahora.} one {Queda # intento.} other {Quedan # intentos.}}',
  INVALID_OTP:
    'El código no es correcto. {left, plural, =0 {No quedan intentos por ahora.} one {Queda # intento.} other {Quedan # intentos.}}',
  OTP_EXPIRED:
    'El código ha caducado. {resends, plural, =0 {No se puede enviar otro: inicie un pago nuevo.} one {Pida uno nuevo: se puede enviar #.} other {Pida uno nuevo: se pueden enviar #.}} {left, plural, =0 {No quedan intentos por ahora.} one {Queda # intento.} other {Quedan # intentos.}}',
  WALLET_CURRENCY: 'Esta cuenta está en {currency}, no en la moneda del pago. Pague con otra cuenta.',
  IDEMPOTENCY_BODY:
    'Esta Idempotency-Key se usó con otra solicitud. Repita la primera sin cambios o use una clave nueva.',
  IN_DOUBT:
    'No se sabe si esta llamada ha tenido efecto. Búsquela antes de enviarla de nuevo: sin Idempotency-Key puede ocurrir dos veces. Con esa clave, la misma llamada puede repetirse sin riesgo.',
  IN_PROGRESS: 'La primera solicitud aún se está procesando. Envíela de nuevo en un momento.',
  STATE: 'El pago está en el estado {state}, que no permite este paso. Consulte su estado antes de continuar.',
  AMOUNT_BELOW_MINIMUM: 'El importe es demasiado pequeño. El mínimo es {minimum} {currency}.',
  AMOUNT_ABOVE_MAXIMUM: 'El importe es demasiado grande. El máximo es {maximum} {currency}.',
  TOTAL_CHANGED: 'El total ha cambiado desde que se mostró: ahora es {total} {currency}. Muéstrelo y envíe de nuevo.',
  UNKNOWN_PATH: 'No hay nada en esta ruta. Compárela con la documentación.',
  WRONG_METHOD: 'Esta ruta no admite ese método HTTP. Admite: {options}.',
  BODY_TOO_LARGE: 'El cuerpo es demasiado grande. Envíe como máximo {maximum} KiB.',
  NOT_HTTP: 'La solicitud no es HTTP/1.1 bien formado. Envíela con una biblioteca HTTP.',
  TOO_MANY_CHUNKS:
    'El cuerpo llega en demasiados trozos pequeños. Envíelo con un Content-Length o en trozos más grandes.',
  HEADERS_TOO_LARGE: 'Los encabezados son más grandes de lo que este servidor acepta. Envíe menos y más cortos.',
  REQUEST_LATE: 'La solicitud no llegó completa a tiempo. Envíela de nuevo, toda de una vez.',
  UNKNOWN_EXPECTATION: 'El encabezado {field} pide algo que este servidor no conoce. No lo envíe.',
  NOT_JSON: 'El cuerpo no es JSON. Envíelo con Content-Type: application/json.',
  BODY_ENCODED: 'El cuerpo está comprimido o codificado de otro modo. Envíelo tal cual, sin el encabezado {field}.',
  CARRIER_DOWN: 'No se puede contactar con {carrier} en este momento. Inténtelo de nuevo un poco más tarde.',
  CARRIER_REFUSES:
    '{carrier} no acepta nuestros pagos por ahora; no se movió dinero. Repetirlo no sirve: pague de otra manera.',
  PAYER_UNKNOWN:
    '{carrier} no conoce ninguna cuenta con este número; no se movió dinero. Compruebe el número o pague de otra manera.',
  EARLIER_PROMPT_OPEN:
    '{carrier} aún no ha dicho qué fue de un intento anterior, que puede haberse completado. Inténtelo de nuevo un poco más tarde y no repita el cobro antes.',
  EARLIER_TRY_OPEN:
    'Un intento anterior puede haberse completado; la red de tarjetas aún no lo ha dicho. Inténtelo de nuevo un poco más tarde y no repita el cobro antes.',
  PAID_BEFORE:
    'Un intento anterior de este pago se completó, pero demasiado tarde para contabilizarse automáticamente. No repita el cobro: pida al operador que contabilice el dinero.',
  RESENDS_USED:
    'No se puede enviar otro código. Introduzca el último recibido mientras sea válido o inicie un pago nuevo.',
  TEXTS_USED:
    'Se enviaron demasiados códigos para esta cuenta en una hora. Espere el tiempo que indica Retry-After o pague de otra manera.',
  PAYMENTS_USED: 'Esta sesión ya inició tantos pagos como se permite. Cree una sesión nueva.',
  CARDS_USED: 'Se han rechazado demasiadas tarjetas en esta sesión. Pague de otra forma.',
  NO_CARD_FORM:
    'No se ha abierto ningún formulario de tarjeta para este pago. Abra su payment_url o inicie otro cobro con payment_method card.',
  OTHER_CARD_FORM:
    '{field} no es el formulario de tarjeta de este pago. Envíe el session_id de la respuesta del cobro.',
  CARD_NOT_ENTERED: 'El formulario aún no contiene ninguna tarjeta. Deje que el cliente lo rellene y envíe de nuevo.',
  FORM_CHANGED:
    'El formulario de tarjeta ya no contiene lo que se le vinculó. Inicie otro cobro y use el formulario nuevo.',
  FORM_USED: 'Este formulario de tarjeta ya se usó para pagar. Inicie otro cobro y use el formulario nuevo.',
  FORM_EXPIRED:
    'Este formulario de tarjeta ha caducado en la red de tarjetas. Inicie otro cobro y use el formulario nuevo.',
  CARD_DECLINED: 'El banco emisor de la tarjeta rechazó el pago. Ofrezca otra tarjeta u otra forma de pago.',
  CARD_FUNDS: 'No hay saldo suficiente en la tarjeta. Ofrezca otra tarjeta u otra forma de pago.',
  CARD_EXPIRED: 'La tarjeta ha caducado. Ofrezca otra tarjeta u otra forma de pago.',
  AUTHENTICATION_FAILED:
    'El banco emisor de la tarjeta no confirmó que fuera su cliente. Ofrezca otra tarjeta u otra forma de pago.',
  NOT_A_CARD: 'Este pago se hace por {method}, no con tarjeta. Consúltelo con GET /payments/status.',
  NOT_FORM: 'El cuerpo no es un formulario. Envíelo como multipart/form-data con su delimitador (boundary).',
  INVALID_FORM: 'No se pudo leer el formulario. Envíe como máximo ocho campos cortos y un solo archivo, completo.',
  FILE_EMPTY: '{field} está vacío. Elija de nuevo el archivo y envíelo.',
  FILE_TYPE: '{field} no es un archivo que se acepte aquí. Envíe una imagen JPEG o PNG, o un PDF.',
  FILE_UNSAFE:
    '{field} está dañado o contiene algo más que una imagen o un documento. Envíe una fotografía, una captura de pantalla o un PDF sencillo.',
  FILE_TOO_LARGE: '{field} es demasiado grande. Envíe como máximo {limit}, por ejemplo una imagen más pequeña.',
  UPLOAD_STALLED:
    'El envío de {field} se detuvo a la mitad. Envíelo de nuevo desde el principio, con una conexión mejor o una imagen más pequeña.',
  UNKNOWN_BANK_ACCOUNT:
    '{field} no designa ninguna cuenta que acepte este pago. Elija una de las que muestra GET /payments/get-config-bank.',
  NOT_DELAYED: 'Este pago se entregó directamente: su dinero ya está disponible y no hay nada que liberar.',
  NOTHING_LEFT: 'Este pago ya se devolvió por completo: no queda nada por reembolsar.',
  NOT_PAID:
    'El pago está en el estado {state}: solo se reembolsa un pago aprobado. Consulte su estado antes de continuar.',
  ABOVE_REFUNDABLE:
    'De este pago aún se pueden reembolsar {left} {currency}. Pida como mucho esa cantidad, u omita el importe.',
  REFUND_UNDER_WAY:
    'Todo este pago ya se está reembolsando o se reembolsó: no se puede pedir más. Consulte sus reembolsos con GET /internal/refunds.',
  REFUNDS_USED:
    'Ya se pidieron {maximum} reembolsos de este pago, también los fallidos, y no admite más. Devuelva el resto de otra forma, por ejemplo con una transferencia suya.',
  BALANCE_SHORT:
    'Se necesitan {needed} {currency} y el saldo disponible es de {available} {currency}. Recargue el saldo o pida menos.',
  ARCHIVED:
    'Esta operación terminó hace mucho y está archivada: se puede leer, pero ya no reembolsar ni volver a pagar. Envíe el dinero con un nuevo desembolso.',
  ARCHIVED_EVENT:
    'Este evento es antiguo y está archivado: se puede leer aquí, pero ya no volver a enviar. Lea su contenido o la transacción de la que informa.',
  BEFORE_RECORDS:
    '{field} es anterior al {day}, y las líneas más antiguas ya no se conservan. Pida un período a partir del {day}.',
} as const satisfies Sentences['detail'];
