/**
 * Deployment files match the program: the Dockerfile, the compose file and the units name files, variables, ports and
 * times that exist.
 *
 * Invariant: no secret has a default, and nothing runs with more rights than it needs.
 */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { MAX_STOP_MS } from '../src/commands/serve-told.ts';
import { UPSTREAM_VARIABLES } from '../src/config-upstreams.ts';
import { NODE_FLAGS } from '../src/platform/node-flags.ts';
import { listFiles, readSources, readText } from './support/sources.ts';

interface Service {
  readonly image?: string;
  readonly build?: { readonly target: string };
  readonly user?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
}

const compose: Compose = parse(readText('deploy/compose.yaml'), { merge: true });
const services = Object.entries(compose.services);
const dockerfile = readText('deploy/Dockerfile');
const env = readText('deploy/.env.example');
const units = listFiles('.service', 'deploy').map((path) => [path, readText(path)] as const);

/** The variables that the configuration reads. */
const VARIABLES = new Set(
  `${readText('src/config.ts')}${readText('src/config-upstreams.ts')}`.match(
    /(?<=')(?:[A-Z]+(?:_[A-Z]+)+|HOST|PORT)(?=')/g,
  ),
);
/** The variables that the exporter of traces reads itself, as docs/operating.md names them. */
const EXPORTER = new Set(readText('docs/operating.md').match(/OTEL_(?:EXPORTER_OTLP|BSP)_[A-Z_]*[A-Z]/g));
/** The variables that the Dockerfile and the sandbox networks read besides. */
const OTHERS = new Set(['NODE_ENV', 'NODE_OPTIONS', 'GATEWAY_URL', 'SANDBOX_HOST', 'SANDBOX_PORT']);
const SECRET = /(KEY|TOKEN|SECRET|PASSWORD)$/;

/** The rest of the Dockerfile's lines that begin with that word. */
function instructions(word: string): string[] {
  const whole = dockerfile.replaceAll(/\\\n\s*/g, '');
  return [...whole.matchAll(new RegExp(`^${word} (.+)$`, 'gm'))].map(([, rest = '']) => rest);
}

/** The variables that a text of the compose file refers to: their names, and what follows the name. */
function asked(text: string): { name: string; rest: string }[] {
  return [...text.matchAll(/\$\{([A-Z_]+)([^}]*)\}/g)].map(([, name = '', rest = '']) => ({ name, rest }));
}

test('every document parses', () => {
  const paths = ['.yaml', '.yml'].flatMap((ending) => listFiles(ending, 'deploy'));
  const plain = paths.filter((path) => !path.includes('/templates/'));
  expect(plain.length).toBeGreaterThan(5);
  for (const path of plain) {
    for (const document of parseAllDocuments(readText(path), { merge: true })) {
      expect([path, ...document.errors, ...document.warnings]).toEqual([path]);
    }
  }
});

test('the image is built from existing files, and from none that is ignored', () => {
  const ignored = readText('.dockerignore').split('\n');
  expect(
    ignored.find((line) => line !== '' && !line.startsWith('#')),
    'first, everything is left out',
  ).toBe('*');
  const letIn = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  expect(letIn.filter((path) => !existsSync(path))).toEqual([]);
  const copied = instructions('COPY')
    .filter((rest) => !rest.startsWith('--from'))
    .flatMap((rest) => rest.split(' ').slice(0, -1));
  expect(copied.filter((path) => !letIn.includes(path))).toEqual([]);
  expect(
    letIn.filter((path) => !copied.includes(path)),
    'let in for nothing',
  ).toEqual([]);
  expect(instructions('ADD')).toEqual([]);
});

test('the image runs under an unprivileged number, ends with the gateway and checks its own health', () => {
  expect(instructions('USER')).toEqual(['65532:65532']);
  expect(instructions('FROM').at(-1)).toBe('base AS gateway');
  expect(instructions('ENTRYPOINT').at(-1)).toBe('["mbongo"]');
  expect(instructions('ENV').join(' ')).toContain('HOST=0.0.0.0 PORT=8080 DATA_DIR=/data');
  expect(instructions('RUN').join('\n')).toContain('ln -s /app/dist/src/main.js /usr/local/bin/mbongo');
  expect(dockerfile).toContain('HEALTHCHECK');
  // The package that hashes PINs is an optional one.
  expect(instructions('RUN').filter((rest) => rest.includes('--omit=optional'))).toEqual([]);
});

test('the running program needs no development dependency', () => {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readText('package.json'));
  const running = readSources().filter(
    ({ path }) => /^(src|sandbox)\//.test(path) && !/\.test\.ts$|\/testing\//.test(path),
  );
  const missing = running.flatMap(({ path, imports }) =>
    imports
      .filter(
        ({ path: file, typeOnly, specifier }) => file === undefined && !typeOnly && !specifier.startsWith('node:'),
      )
      .map(({ specifier }) =>
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      )
      .filter((name) => dependencies[name] === undefined)
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('every variable that is set is read by the configuration', () => {
  const ofImage = instructions('ENV').flatMap((rest) => rest.split(' ').map((pair) => pair.split('=')[0] ?? ''));
  const ofGateway = services.filter(([, { build }]) => build !== undefined);
  const ofCompose = ofGateway.flatMap(([, { environment = {} }]) => Object.keys(environment));
  const ofUnits = [...units.map(([, text]) => text), readText('deploy/systemd/mbongo.env.example')].flatMap((text) =>
    [...text.matchAll(/^(?:Environment=)?([A-Z_]+)=/gm)].map(([, name = '']) => name),
  );
  expect(VARIABLES).toContain('DATABASE_URL');
  const unknown = [...ofImage, ...ofCompose, ...ofUnits].filter(
    (name) => ![VARIABLES, EXPORTER, OTHERS].some((known) => known.has(name)),
  );
  expect(unknown).toEqual([]);
});

test('whatever starts a process under load gives Node.js its flags', () => {
  const flags = NODE_FLAGS.join(' ');
  expect(instructions('ENV').join(' ')).toContain(`NODE_OPTIONS=${flags}`);
  for (const [, text] of units.filter(([, unit]) => unit.includes(' serve '))) {
    expect(text).toContain(`ExecStart=/usr/bin/node ${flags} /opt`);
  }
  expect(readText('scripts/start.ts')).toContain(`flags: ['${NODE_FLAGS.join("', '")}']`);
});

test('the commands to paste from docs/deploying.md stay in the folder whose files the following lines name', () => {
  const blocks = [...readText('docs/deploying.md').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThan(3);
  expect(blocks.filter((block) => /^cd /m.test(block))).toEqual([]);
});

test.each(['api', 'worker'])('the unit of the %s is restarted until the database is there', (role) => {
  const unit = readText(`deploy/systemd/mbongo-${role}.service`);
  expect(unit).toMatch(/^Restart=always$/m);
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  // A unit that requires a failed one is not started, and not tried again.
  expect(unit).not.toMatch(/^(Requires|Requisite|BindsTo)=/m);
  expect(unit).toMatch(/^Wants=.*mbongo-migrate\.service$/m);
});

test('every variable of the configuration and of the exporter reaches the gateway of the compose file', () => {
  // It runs in production, which has no RECEIVER_NETWORKS.
  const own = new Set(['HOST', 'PORT', 'DATA_DIR', 'SANDBOX_PORT', 'DRAIN_MS', 'WORKER_PORT', 'RECEIVER_NETWORKS']);
  const { api, worker } = compose.services;
  expect([...EXPORTER].sort()).toContain('OTEL_EXPORTER_OTLP_HEADERS');
  for (const service of [api, worker]) {
    const given = new Set(Object.keys(service?.environment ?? {}));
    expect([...VARIABLES, ...EXPORTER].filter((name) => !own.has(name) && !given.has(name))).toEqual([]);
  }
});

test('what creates tables gets no secret but the database’s, and to archive also the master key', () => {
  const { migrate, archive } = compose.services;
  expect(Object.keys(migrate?.environment ?? {})).toEqual(['GATEWAY_MODE', 'DATABASE_URL']);
  expect(Object.keys(archive?.environment ?? {}).sort()).toEqual(['DATABASE_URL', 'GATEWAY_MODE', 'MASTER_KEY']);
  const unneeded = [...new Set([...VARIABLES, ...EXPORTER])].filter(
    (name) => UPSTREAM_VARIABLES.test(name) || name.endsWith('HEADERS') || name === 'MASTER_KEY',
  );
  for (const [role, kept] of [
    ['migrate', []],
    ['archive', ['MASTER_KEY']],
  ] as const) {
    const unit = readText(`deploy/systemd/mbongo-${role}.service`);
    const unset = [...unit.matchAll(/^UnsetEnvironment=(.*)$/gm)].flatMap(([, names = '']) => names.split(' '));
    expect([...unset, ...kept].sort()).toEqual(unneeded.sort());
  }
});

test('the file of carrier routes is where the gateway of the compose file looks for it', () => {
  const { api, worker } = compose.services;
  for (const service of [api, worker]) {
    expect(service?.environment?.CARRIER_ROUTES).toMatch(
      /^\$\{CARRIER_ROUTES:\+(\/etc\/mbongo\/carrier-routes\.json)\}$/,
    );
    expect(service?.volumes?.join()).toMatch(
      /^\$\{CARRIER_ROUTES:-\/dev\/null\}:\/etc\/mbongo\/carrier-routes\.json:ro$/,
    );
  }
});

test('every variable of the configuration is in the README', () => {
  const readme = readText('README.md');
  // An upstream's variables are one line: `CARDNET_…`.
  const blocks = [...readme.matchAll(/`([A-Z_]+_)…`/g)].map(([, block = '']) => block);
  const named = (name: string) => readme.includes(`\`${name}\``) || blocks.some((block) => name.startsWith(block));
  expect([...VARIABLES].filter((name) => !named(name))).toEqual([]);
});

test('what leads to an upstream is known to do so, and is kept from the bench', () => {
  const read = [...VARIABLES].filter((name) => readText('src/config-upstreams.ts').includes(`'${name}'`));
  expect(read).toContain('SMS_TOKEN');
  expect(read.filter((name) => !UPSTREAM_VARIABLES.test(name))).toEqual([]);
});

test('the compose file refers to what .env.example names, and no secret has a default', () => {
  const all = asked(readText('deploy/compose.yaml'));
  const named = [...env.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }));
  expect(named.map(({ name }) => name).sort()).toEqual([...new Set(all.map(({ name }) => name))].sort());
  const secrets = all.filter(({ name }) => SECRET.test(name));
  expect(secrets.length).toBeGreaterThan(5);
  expect(secrets.filter(({ rest }) => rest !== ':-' && !rest.startsWith(':?set it in deploy/.env'))).toEqual([]);
  expect(named.filter(({ name, value }) => SECRET.test(name) && value !== '')).toEqual([]);
  for (const name of ['POSTGRES_PASSWORD', 'MASTER_KEY', 'PUBLIC_URL', 'GRAFANA_PASSWORD']) {
    expect(all.filter((one) => one.name === name).every(({ rest }) => rest.startsWith(':?'))).toBe(true);
  }
});

test.each(services)('%s runs confined', (_name, service) => {
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  expect(service.privileged).toBeUndefined();
  expect(service.image).toMatch(/:[^:]+$/);
  // Our own images set their user themselves.
  if (service.build === undefined) expect(service.user).toMatch(/^[1-9]\d*:\d+$/);
  expect((service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  const files = (service.volumes ?? []).filter((volume) => volume.startsWith('./'));
  expect(files.filter((volume) => !existsSync(`deploy/${volume.split(':')[0]}`))).toEqual([]);
  expect(files.every((volume) => volume.endsWith(':ro'))).toBe(true);
  const ofImage = service.build !== undefined;
  if (!ofImage) expect(service.healthcheck).toBeDefined();
});

test('the ports agree', () => {
  const { api, worker } = compose.services;
  expect(instructions('EXPOSE')).toEqual(['8090', '8080']);
  expect(api?.ports).toEqual([expect.stringMatching(/:8080$/)]);
  expect(api?.healthcheck?.test).toContain('8080');
  expect(worker?.environment?.WORKER_PORT).toBe('9464');
  expect(worker?.healthcheck?.test).toContain('9464');
  const scraped: { scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[] } = parse(
    readText('deploy/prometheus/prometheus.yml'),
  );
  const targets = scraped.scrape_configs.flatMap(({ dns_sd_configs }) => dns_sd_configs);
  expect(targets.map(({ names, port }) => [...names, port])).toEqual([
    ['api', 8080],
    ['worker', 9464],
  ]);
});

test('whatever stops a process waits longer than its stop may take', () => {
  const graces = [
    ...services
      .filter(([, { build }]) => build?.target === 'gateway')
      .map(([, { stop_grace_period = '10s' }]) => stop_grace_period),
    ...units
      .filter(([, text]) => !text.includes('Type=oneshot'))
      .map(([, text]) => `${/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]}s`),
  ];
  expect(graces.length).toBe(7);
  expect(graces.filter((grace) => !(Number.parseInt(grace, 10) * 1_000 >= 2 * MAX_STOP_MS))).toEqual([]);
});

test('the archive runs every night, and is made up for after a night in which the machine was off', () => {
  const timer = readText('deploy/systemd/mbongo-archive.timer');
  expect(timer).toMatch(/^OnCalendar=\*-\*-\* 02:30:00$/m);
  expect(timer).toMatch(/^Persistent=yes$/m);
  // Without a unit of its own a timer starts the service of its name.
  expect(units.map(([path]) => path)).toContain('deploy/systemd/mbongo-archive.service');
});

test('the units start the built program, without privileges', () => {
  expect(units.map(([path]) => path).sort()).toEqual([
    'deploy/systemd/mbongo-api.service',
    'deploy/systemd/mbongo-archive.service',
    'deploy/systemd/mbongo-migrate.service',
    'deploy/systemd/mbongo-worker.service',
  ]);
  for (const [, text] of units) {
    expect(text).toMatch(
      /^ExecStart=\/usr\/bin\/node (--\S+ )*\/opt\/mbongo\/dist\/src\/main\.js (migrate|archive --older-than 13m|serve --role \w+)$/m,
    );
    expect(text).toMatch(/^DynamicUser=yes$/m);
    expect(text).toMatch(/^CapabilityBoundingSet=$/m);
  }
});

test('the units run under the same restrictions', () => {
  const restrictions = new Set(units.map(([, text]) => /^NoNewPrivileges=yes\n(?:\S+=.*\n)+/m.exec(text)?.[0]));
  expect([...restrictions]).toEqual([expect.stringContaining('SystemCallFilter=@system-service')]);
});
