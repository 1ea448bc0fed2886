/**
 * Shows the OpenAPI document as a page on which calls can be tried.
 *
 * Invariant: it talks to this gateway and to nobody else; what is typed into it is kept in this window only.
 */
const { origin } = globalThis.location;

globalThis.Scalar.createApiReference('#explorer', {
  url: '/openapi.json',
  // Whatever address the gateway is reached by: calls go where the page came from.
  servers: [{ url: `${origin}/api/v1` }],
  baseServerURL: origin,
  proxyUrl: '',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'merchant' },
  documentDownloadType: 'none',
  hideModels: true,
  defaultOpenAllTags: false,
  expandAllResponses: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  theme: 'none',
  metaData: { title: 'Explorer · Mbongo' },
});
