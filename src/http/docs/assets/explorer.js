/**
 * Shows the OpenAPI document as a page on which calls can be tried.
 *
 * Invariant: it talks to this gateway and to nobody else; what is typed into it is kept in this window only.
 */
const { origin } = globalThis.location;

/**
 * The document with every part in its place. The library would show a named part with the description of its name, and not with
 * the one that stands beside the reference: which amount it is, for example.
 */
function inPlace(document) {
  const place = (value) => {
    if (Array.isArray(value)) return value.map(place);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...own } = value;
    const placed = Object.fromEntries(Object.entries(own).map(([key, inner]) => [key, place(inner)]));
    if (typeof $ref !== 'string') return placed;
    const target = $ref
      .split('/')
      .slice(1)
      .reduce((found, name) => found[name], document);
    return { ...place(target), ...placed };
  };
  return place(document);
}

async function show() {
  const document = await (await fetch('/openapi.json')).json();
  globalThis.Scalar.createApiReference('#explorer', {
    content: inPlace(document),
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
}

void show();
