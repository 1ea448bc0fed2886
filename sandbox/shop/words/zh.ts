/**
 * The shop in Chinese.
 * Invariant: every sentence says what happened and what to do next.
 */
import type { ShopWords } from './shop-words.ts';

export const zh: ShopWords = {
  demo: '演示商店：这里并不真的出售商品，也没有真实资金往来。',
  sandbox: 'Mbongo 沙盒',
  language: '语言',
  currency: '货币',
  skip: '跳到内容',
  shop: '商店',
  cart: '购物车',
  orders: '订单',
  inCart: '购物车中：{n}',

  title: '湖畔好物',
  lead: '山上的咖啡，集市的花布，夜晚的灯光。从戈马到金沙萨。',
  goods: {
    coffee: { name: '基伍咖啡', about: '卡莱赫山区阿拉比卡，戈马烘焙。500 克。' },
    wax: { name: '蜡染花布', about: '六码印花棉布，可做一条裙子和一条头巾。' },
    honey: { name: '森林蜂蜜', about: '深色，产自伊图里森林边缘。350 克。' },
    charger: { name: '手机充电器', about: 'USB-C，20 W，附两米数据线。' },
    chocolate: { name: '黑巧克力', about: '贝尼可可，72 %。两块，每块 80 克。' },
    basket: { name: '编织篮', about: '剑麻与香蕉纤维，布卡武手工制作。' },
    tea: { name: '红茶', about: '产自湖上山坡。250 克，散装。' },
    solar: { name: '太阳能套装', about: '一块电池板、一个蓄电池和两盏灯：可照明四个夜晚。' },
  },
  add: '加入购物车',
  added: '购物车中：{n}',
  toCart: '查看购物车',

  noGateway: {
    title: '收银台尚未连接',
    about: '网关以沙盒模式启动并带有演示商户时，会把凭证交给本店。如需连接其他商户，请在同一台机器上运行：',
  },

  cartTitle: '您的购物车',
  cartEmpty: { title: '还是空的', about: '请在商店中选购，商品会在这里等您。' },
  toShop: '去商店',
  each: '每件 {amount}',
  more: '加一件：{name}',
  less: '减一件：{name}',
  remove: '移除',
  total: '合计',
  feesMayCome: '不含手续费；付款前支付页面会显示手续费。',
  buy: '以 {amount} 购买',
  thenPay: '请在网关页面选择支付方式，之后会回到这里。',
  advanced: '测试选项：手续费与到账',
  fees: '手续费承担方',
  feesBy: { buyer: '买家', merchant: '商店' },
  delivery: '商店收款时间',
  deliveries: { direct_delivery: '立即', delayed_delivery: '稍后，待放款时' },

  trouble: '无法开始付款',
  noAnswer: '支付服务暂时没有响应。请稍等片刻，然后重试。',
  notCharged: '没有扣款，您的购物车保持不变。',
  tryAgain: '重试',

  order: '订单 {reference}',
  state: {
    waiting: '等待中',
    paid: '已付款',
    refused: '未付款',
    cancelled: '已取消',
    expired: '已过期',
    refunded: '已退款',
  },
  outcome: {
    waiting: { title: '尚未付款', about: '在此期间，我们为您保留订单。' },
    paid: { title: '谢谢，已付款', about: '我们正在为您打包。这是您的收据。' },
    refused: { title: '付款未成功', about: '没有扣款。请换一个号码或换一种方式重新购买。' },
    cancelled: { title: '付款已取消', about: '没有扣款。如果您改变主意，请重新购买。' },
    expired: {
      title: '付款时间已过',
      about: '未在规定时间内确认。请重新购买；如果账户仍被扣款，我们会退还。',
    },
    refunded: { title: '我们已退款', about: '款项按原路退回。欢迎随时再次购买。' },
  },
  waitsFor: {
    pending: '我们在等您：请在支付页面选择支付方式。',
    processing: '我们在等运营商或银行的答复。您无需操作。',
    pending_otp_verification: '我们在等短信验证码：请在支付页面输入。',
    pending_mobile_money_verification: '我们在等您在手机上确认：请在手机上输入 PIN。',
    pendingBankProofUpload: '我们在等您的转账凭证：请在支付页面上传。',
  },
  looksAgain: '本页面每隔几秒会自动重新查询。',
  look: '重新查询',
  cannotAsk: '我们暂时无法向支付服务查询：',
  goOn: '前往支付页面',
  buyAgain: '重新购买',
  offline: '连接已断开，正在重试……',
  noOrder: {
    title: '找不到这个订单',
    about: '地址可能不完整，或商店已重新启动：重启后订单会被清除。',
  },

  receipt: '收据',
  transaction: '交易',
  learned: '消息来源',
  byWebhook: '已验证的 webhook，{time}',
  byAsking: '向网关查询，{time}',
  notYet: '尚不清楚',

  ordersTitle: '订单',
  ordersLead: '商店对每笔付款所知的情况及其来源：从不轻信返回的浏览器。',
  noOrders: { title: '还没有订单', about: '在商店购买后，订单会立即出现在这里。' },
  reference: '订单',
  amount: '金额',
  status: '状态',
  ordered: '下单时间',
};
