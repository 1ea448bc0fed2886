/**
 * The chart, as far as it can be judged without Helm: its templates are balanced and leave YAML behind, and what they refer to
 * exists in the values, the schema and the configuration.
 *
 * Invariant: no pod runs with more rights than the `restricted` standard gives, and no secret is a value.
 */

import { Compile } from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { MAX_STOP_MS } from '../src/commands/serve-told.ts';
import { listFiles, readText } from './support/sources.ts';

type Tree = { readonly [key: string]: unknown };

const CHART = 'deploy/helm/mbongo';
const values: Tree = parse(readText(`${CHART}/values.yaml`));
const schema: Tree = JSON.parse(readText(`${CHART}/values.schema.json`));
const templates = listFiles('', `${CHART}/templates`).map(
  (path) => [path.slice(CHART.length + 11), readText(path)] as const,
);
const all = templates.map(([, text]) => text).join('\n');
const valid = Compile(schema);

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of names; undefined if there is none. */
function at(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, name) => (isTree(found) ? found[name] : undefined), tree);
}

/** The default values, completed with the required ones. */
function filled(more: Tree = {}): Tree {
  return {
    ...values,
    existingSecret: 'mbongo',
    config: { ...asTree(values.config), PUBLIC_URL: 'https://pay.example.com' },
    ...more,
  };
}

function asTree(value: unknown): Tree {
  if (!isTree(value)) throw new Error('not a map');
  return value;
}

/** Paths of all values, except maps whose keys the user chooses. */
function leaves(tree: Tree, above: readonly string[] = []): string[][] {
  return Object.entries(tree).flatMap(([name, value]) =>
    isTree(value) && Object.keys(value).length > 0 ? leaves(value, [...above, name]) : [[...above, name]],
  );
}

/** A template without its actions: those alone on a line are removed, and those within a line become a word. */
function skeleton(text: string): string {
  return text
    .replaceAll(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g, '')
    .replaceAll(/^[ \t]*\{\{[^}]*\}\}[ \t]*\n/gm, '')
    .replaceAll(/\{\{[^}]*\}\}/g, 'word');
}

describe('templates', () => {
  test.each(templates)('%s is balanced', (_name, text) => {
    expect(text.match(/\{\{/g)?.length ?? 0).toBe(text.match(/\}\}/g)?.length ?? 0);
    const words = [...text.matchAll(/\{\{-?\s*(if|with|range|define|end)\b/g)].map(([, word]) => word);
    let open = 0;
    for (const word of words) {
      open += word === 'end' ? -1 : 1;
      expect(open).toBeGreaterThanOrEqual(0);
    }
    expect(open).toBe(0);
  });

  test.each(templates.filter(([name]) => name.endsWith('.yaml')))('%s leaves valid YAML', (_name, text) => {
    const documents = parseAllDocuments(skeleton(text));
    expect(documents.flatMap(({ errors }) => errors.map(({ message }) => message))).toEqual([]);
    const kinds = documents.map((document) => at(document.toJS(), ['kind'])).filter((kind) => kind !== undefined);
    expect(kinds.length).toBeGreaterThan(0);
  });

  test('every included template is defined, and every defined one is included', () => {
    const defined = [...all.matchAll(/define "([^"]+)"/g)].map(([, name]) => name);
    const included = [...all.matchAll(/include "([^"]+)"/g)].map(([, name]) => name);
    expect([...new Set(included)].sort()).toEqual(defined.sort());
  });

  test('every value that they refer to exists, and every value is referred to', () => {
    const asked = [...all.matchAll(/\.Values\.([A-Za-z_.]+)/g)].map(([, path = '']) => path.split('.'));
    expect(asked.filter((path) => at(values, path) === undefined)).toEqual([]);
    // A whole branch is passed on: to a loop, or to the block that schedules pods.
    const branches = [['config'], ...['api', 'worker'].map((role) => [role])];
    const isAsked = (leaf: readonly string[]): boolean =>
      asked.some((path) => path.length <= leaf.length && path.every((name, index) => leaf[index] === name)) ||
      branches.some(([name]) => leaf[0] === name);
    expect(leaves(values).filter((leaf) => !isAsked(leaf))).toEqual([]);
  });

  test('every pod is restricted, has health probes and gets no token', () => {
    const pods = templates.filter(([, text]) => text.includes('      containers:\n'));
    expect(pods.map(([name]) => name).sort()).toEqual(['api.yaml', 'archive.yaml', 'migrate.yaml', 'worker.yaml']);
    for (const [name, text] of pods) {
      expect(text).toContain('automountServiceAccountToken: false');
      // Otherwise a Service of that namespace named `worker` or `sandbox` would set WORKER_PORT or SANDBOX_PORT.
      expect(text).toContain('enableServiceLinks: false');
      expect(text).toContain('include "mbongo.podSecurity"');
      expect(text).toContain('include "mbongo.containerSecurity"');
      // They end by themselves.
      if (name === 'migrate.yaml' || name === 'archive.yaml') continue;
      expect(text.match(/path: \/health(\/ready)?,/g)).toEqual([
        'path: /health,',
        'path: /health,',
        'path: /health/ready,',
      ]);
    }
    const helpers = readText(`${CHART}/templates/_helpers.tpl`);
    for (const line of ['runAsNonRoot: true', 'runAsUser: 65532', 'readOnlyRootFilesystem: true', 'drop: [ALL]']) {
      expect(helpers).toContain(line);
    }
  });

  test('overload restarts no pod: a health check that is queued has a minute', () => {
    for (const name of ['api.yaml', 'worker.yaml']) {
      const [, liveness = ''] = /livenessProbe:\n((?: {12}.*\n)+)/.exec(readText(`${CHART}/templates/${name}`)) ?? [];
      const { httpGet, periodSeconds, timeoutSeconds, failureThreshold } = parse(liveness);
      expect(httpGet).toMatchObject({ path: '/health' });
      expect([timeoutSeconds, periodSeconds * failureThreshold]).toEqual([10, 60]);
    }
  });

  test('a pod that migrates itself has as long as the Job would have', () => {
    for (const name of ['api.yaml', 'worker.yaml']) {
      const [, startup = ''] = /startupProbe:\n((?: {12}.*\n)+)/.exec(readText(`${CHART}/templates/${name}`)) ?? [];
      expect(startup).toContain('periodSeconds: 2\n');
      const limit =
        '{{ if .Values.migrate.enabled }}60{{ else }}{{ div .Values.migrate.activeDeadlineSeconds 2 }}{{ end }}';
      expect(startup).toContain(`failureThreshold: ${limit}\n`);
    }
  });

  test('the migration runs first and depends on nothing that the chart creates', () => {
    const job = readText(`${CHART}/templates/migrate.yaml`);
    expect(job).toContain('helm.sh/hook: pre-install,pre-upgrade');
    expect(job).not.toMatch(/configMapRef|configMap:|serviceAccountName/);
  });

  test('what creates tables has the owner’s address, and no variables that it has no use for', () => {
    for (const [name, text] of templates.filter(([one]) => one.endsWith('.yaml'))) {
      const isOwner = ['archive.yaml', 'migrate.yaml'].includes(name);
      expect(text.includes('env:\n') && text.includes('include "mbongo.ownerEnvironment"')).toBe(isOwner);
      expect(isOwner && /envFrom:|Values\.config/.test(text)).toBe(false);
    }
    const helpers = readText(`${CHART}/templates/_helpers.tpl`);
    const [, environment = ''] = /ownerEnvironment" -\}\}\n([\s\S]*?)\{\{- end/.exec(helpers) ?? [];
    expect(parse(skeleton(environment))).toEqual([
      { name: 'GATEWAY_MODE', value: 'word' },
      { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'word', key: 'DATABASE_URL' } } },
    ]);
    expect(valid.Check(filled({ ownerSecret: 'mbongo-owner' }))).toBe(true);
  });

  test('every pod finds the certificate that issues the database’s, if the Secret has it', () => {
    for (const name of ['api.yaml', 'archive.yaml', 'migrate.yaml', 'worker.yaml']) {
      const template = readText(`${CHART}/templates/${name}`);
      expect(template).toMatch(/volumeMounts:\n +\{\{- include "mbongo.databaseCaMount" /);
      expect(template).toMatch(/volumes:\n +\{\{- include "mbongo.databaseCaVolume" /);
    }
    const [, volume = ''] =
      /databaseCaVolume" -\}\}\n([\s\S]*?)\{\{- end/.exec(readText(`${CHART}/templates/_helpers.tpl`)) ?? [];
    expect(parse(skeleton(volume).replaceAll(/\bword\b/g, 'mbongo'))).toEqual([
      {
        name: 'database-ca',
        secret: { secretName: 'mbongo', optional: true, items: [{ key: 'ca.crt', path: 'ca.crt' }] },
      },
    ]);
    for (const file of [`${CHART}/README.md`, `${CHART}/values.yaml`]) {
      expect(readText(file)).toContain('sslrootcert=/etc/mbongo-database/ca.crt');
    }
  });

  test('every variable can be set, in the Secret or as a plain value, except the fixed ones', () => {
    const config = `${readText('src/config.ts')}${readText('src/config-upstreams.ts')}`;
    const read = [...config.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map(([, name = '']) => name);
    const exported = readText('docs/operating.md').match(/OTEL_(?:EXPORTER_OTLP|BSP)_[A-Z_]*[A-Z]/g) ?? [];
    const plain = [...read, ...exported].filter(
      (name) => !/^DATABASE_URL$|(KEY|TOKEN|SECRET|PASSWORD|HEADERS)$/.test(name),
    );
    const refused = plain.filter((name) => {
      const { [name]: given = 'text', ...more } = asTree(filled().config);
      return !valid.Check(filled({ config: { ...more, [name]: given } }));
    });
    expect([plain.includes('OTEL_BSP_MAX_QUEUE_SIZE'), refused]).toEqual([true, []]);
    for (const name of ['api.yaml', 'worker.yaml']) {
      const template = readText(`${CHART}/templates/${name}`);
      expect([template.includes('configMapRef:'), template.includes('secretRef:')]).toEqual([true, true]);
    }
    expect(readText(`${CHART}/templates/configmap.yaml`)).toContain('CARRIER_ROUTES: /etc/mbongo/');
  });

  test('ports and variables are those of the program', () => {
    const ports = (name: string) => [...readText(`${CHART}/templates/${name}`).matchAll(/containerPort: (\d+)/g)];
    expect(ports('api.yaml').map(([, port]) => port)).toEqual(['8080']);
    expect(ports('worker.yaml').map(([, port]) => port)).toEqual(['9464']);
    const config = readText('src/config.ts');
    const named = [...all.matchAll(/- name: ([A-Z_]+)\n|^ {2}([A-Z_]+): /gm)].map(([, one, two]) => one ?? two ?? '');
    expect([...named, ...Object.keys(asTree(values.config))].filter((name) => !config.includes(`'${name}'`))).toEqual(
      [],
    );
    expect(named).toContain('DRAIN_MS');
  });
});

describe('values', () => {
  test('by default lack only the secret and the address', () => {
    const [, errors] = valid.Errors(values);
    expect(errors.map(({ instancePath }) => instancePath).sort()).toEqual(['/config/PUBLIC_URL', '/existingSecret']);
    expect(valid.Check(filled())).toBe(true);
  });

  test.each([
    ['a value that nobody knows', { replicas: 3 }],
    [
      'a public address below a path',
      { config: { ...asTree(filled().config), PUBLIC_URL: 'https://example.com/pay' } },
    ],
    ['a secret among the plain variables', { config: { ...asTree(filled().config), SMS_TOKEN: 'x' } }],
    ['a database address among them', { config: { ...asTree(filled().config), DATABASE_URL: 'postgresql://…' } }],
    ['a number where a variable is a text', { config: { ...asTree(filled().config), RATE_LIMIT_SCALE: 2 } }],
    ['metrics for the world', { ingress: { ...asTree(values.ingress), paths: ['/metrics'] } }],
    ['everything for the world', { ingress: { ...asTree(values.ingress), paths: ['/'] } }],
    ['a path that is none', { ingress: { ...asTree(values.ingress), paths: ['api'] } }],
    ['a grace that is shorter than a stop', { api: { ...asTree(values.api), terminationGracePeriodSeconds: 5 } }],
  ])('%s is refused', (_name, more) => {
    expect(valid.Check(filled(more))).toBe(false);
  });

  test('have a schema that Helm understands: its expressions have no lookaround', () => {
    const patterns = [...readText(`${CHART}/values.schema.json`).matchAll(/"pattern": "([^"]+)"/g)];
    expect(patterns.length).toBeGreaterThan(3);
    expect(
      patterns.map(([, pattern = '']) => pattern).filter((pattern) => /\(\?(?!:)|\\\\[1-9k]/.test(pattern)),
    ).toEqual([]);
  });

  test('a pod has time to drain and to stop', () => {
    for (const role of ['api', 'worker']) {
      const grace = Number(at(values, [role, 'terminationGracePeriodSeconds']));
      expect(grace * 1_000).toBeGreaterThan(Number(at(values, [role, 'drainMs']) ?? 0) + MAX_STOP_MS);
    }
  });

  test('the chart has the gateway’s version', () => {
    const { version }: { version: string } = JSON.parse(readText('package.json'));
    expect(parse(readText(`${CHART}/Chart.yaml`))).toMatchObject({ appVersion: version });
  });
});
