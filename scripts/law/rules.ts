/**
 * The law as data: which package may import which, what each room may touch, how long a file may be. Paths are below
 * packages/, so that a rule reads like ARCHITECTURE.md; a rule for a room that does not exist yet waits for it.
 */

export interface PackageRule {
  readonly name: string
  /** Downstairs only, never along a floor. */
  readonly mayImport: readonly string[]
  readonly testsMayImport?: readonly string[]
  /** Where no third-party code may be: optional peers, each in the folder of its adapter. */
  readonly onlyPeers?: { readonly [peer: string]: RegExp }
}

export const PACKAGES: { readonly [folder: string]: PackageRule } = {
  resilience: {
    name: '@secondwind/resilience',
    mayImport: [],
    onlyPeers: {
      undici: /^resilience\/src\/undici\//,
      '@opentelemetry/api': /^resilience\/src\/otel\//,
      '@prometheus-io/client': /^resilience\/src\/prometheus\//,
      '@grpc/grpc-js': /^resilience\/src\/grpc\//,
    },
  },
  idempotency: { name: '@secondwind/idempotency', mayImport: ['resilience'], onlyPeers: {} },
  client: { name: '@secondwind/client', mayImport: ['resilience'], onlyPeers: {} },
  lab: { name: '@secondwind/lab', mayImport: ['resilience'], onlyPeers: {} },
  service: { name: '@secondwind/service', mayImport: ['client', 'resilience'], testsMayImport: ['lab'] },
  dashboard: { name: '@secondwind/dashboard', mayImport: ['lab', 'client', 'resilience'] },
  cli: { name: 'secondwind', mayImport: ['service', 'lab', 'client', 'resilience'] },
}

/** Tests are bound by the law of packages, and by no room. */
export const TEST = /\.(?:test|test-d|test-kit|conformance)\.[jt]sx?$|\/(?:test|type-tests|smoke)\//

export const MAX_LINES = 300
export const MAX_TEST_LINES = 500

export interface Room {
  readonly name: string
  readonly files: RegExp
  readonly except?: RegExp
  /** What its code may not say, comments and strings aside. */
  readonly tokens?: readonly Token[]
  /** What it may not import. */
  readonly imports?: readonly ImportBan[]
  readonly why: string
}

interface Token {
  readonly say: string
  readonly pattern: RegExp
}

interface ImportBan {
  readonly say: string
  /** Matched against `from -> to`. */
  readonly path: RegExp
  readonly typesAllowed?: true
}

/** Not a property of something else, unless of the global object. */
const GLOBAL = String.raw`(?:(?<![\w$.]|\.\s)|(?<=\b(?:globalThis|window|self)\.))`
const global = (name: string, rest = String.raw`\b`): RegExp => new RegExp(`${GLOBAL}${name}${rest}`, 'g')
/** Not the name of a property either: `{ throw: true }`, `async?: boolean`. */
const keyword = (word: string): Token => ({ say: word, pattern: global(word, String.raw`\b(?!\s*\??\s*:)`) })

const CLOCK: readonly Token[] = [
  { say: 'Date.now', pattern: global('Date', String.raw`\s*\.\s*now\b`) },
  { say: 'new Date', pattern: /\bnew\s+(?:globalThis\.)?Date\b/g },
  { say: 'performance', pattern: global('performance', String.raw`\s*\??\.`) },
]
const TIMERS: readonly Token[] = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map(name => ({
  say: name,
  pattern: global(name),
}))
const CHANCE: readonly Token[] = [
  { say: 'Math.random', pattern: global('Math', String.raw`\s*\.\s*random\b`) },
  { say: 'crypto', pattern: global('crypto', String.raw`\s*\??\.`) },
]
const NODE: ImportBan = { say: 'a node: module', path: /-> node:/ }

export const ROOMS: readonly Room[] = [
  {
    name: 'pure rules',
    files:
      /^(?:resilience\/src\/(?:classify|lane)\/|service\/src\/task\/|service\/src\/dispatch\/(?:share|room)\.ts$|[^/]+\/src\/(?:.*\/)?(?:policy|decide|backoff|retry-after)\.ts$)/,
    tokens: [
      ...['await', 'async', 'Promise', 'throw'].map(keyword),
      // `Date.parse` and `Date.UTC` are arithmetic: they read no clock.
      { say: 'Date', pattern: global('Date', String.raw`\b(?!\s*\??\s*:|\.(?:parse|UTC)\b)`) },
      { say: '.then(', pattern: /\.\s*then\s*\(/g },
      ...CLOCK.filter(token => token.say === 'performance'),
      ...TIMERS,
      ...CHANCE,
    ],
    imports: [{ say: 'a port', path: /-> .*\/ports\//, typesAllowed: true }, NODE],
    why: 'a rule receives values and returns values; the shell reads the clock and draws the die',
  },
  {
    name: 'run.ts',
    files: /\/run\.ts$/,
    tokens: [{ say: 'a default', pattern: /\b(?:const|let|var)\s+DEFAULT_\w*/g }],
    imports: [NODE],
    why: 'a shell runs everywhere and obeys; defaults stand beside their type in policy.ts',
  },
  {
    name: 'clock and chance',
    files: /^/,
    except: /^resilience\/src\/ports\//,
    tokens: [...CLOCK, ...CHANCE],
    why: 'only resilience/src/ports/ reads the clock and draws the die, so that everything else can be replayed',
  },
  {
    name: 'timers',
    files: /^/,
    except: /^resilience\/src\/(?:ports|testing)\//,
    tokens: TIMERS,
    why: 'waiting is cancellable and goes through clock.sleep; only ports and the virtual clock need real timers',
  },
  {
    name: 'ports',
    files: /^resilience\/src\/ports\//,
    imports: [
      {
        say: 'a rule',
        path: /-> resilience\/src\/(?:classify\/|(?:.*\/)?(?:policy|decide|run|backoff|retry-after)\.ts$)/,
        typesAllowed: true,
      },
    ],
    why: 'a port is the outside world and holds no rules',
  },
  {
    name: 'portable packages',
    files: /^(?:resilience|client|lab|dashboard)\/src\//,
    except: /^resilience\/src\/(?:testing\/scripted-server\.ts$|(?:undici|http|middleware|context|otel|prometheus)\/)/,
    imports: [NODE],
    why: 'it runs in browsers and at the edge; node: belongs to the adapters',
  },
  {
    name: 'production code',
    files: /^/,
    except: /^(?:resilience\/src\/testing|lab)\//,
    imports: [{ say: 'testing', path: /-> (?:@secondwind\/resilience\/testing$|resilience\/src\/testing\/)/ }],
    why: 'virtual clocks and scripted servers are for tests and for the lab',
  },
  {
    name: 'lab',
    files: /^lab\//,
    imports: [{ say: 'an adapter', path: /-> @secondwind\/resilience\/(?!(?:rules|testing)$)/ }],
    why: 'a simulated world knows the rules and the virtual clock, nothing real',
  },
  {
    name: 'process',
    files: /^(?!cli\/)/,
    // The leak check listens for unhandled rejections, where there is a process to tell of them.
    except: /^service\/src\/(?:config|main)\.ts$|^resilience\/src\/testing\/leak-check\.ts$/,
    tokens: [
      { say: 'process', pattern: global('process', String.raw`\s*\??\.\s*(?:env|exit|exitCode|on|once|kill)\b`) },
    ],
    imports: [{ say: 'process', path: /-> node:process$/ }],
    why: 'environment, signals and exit belong to service/src/config.ts, service/src/main.ts and cli/',
  },
  {
    name: 'stores',
    files: /^service\/src\/stores\/[^/]+\//,
    tokens: [
      {
        say: 'a field of the policy',
        pattern:
          /\b(?:maxAttempts|totalBudgetMs|backoffType|initialDelayMs|multiplier|maxDelayMs|delaysMs|jitterType)\b/g,
      },
    ],
    imports: [
      { say: 'telemetry', path: /-> service\/src\/telemetry\// },
      { say: 'another store', path: /^service\/src\/stores\/([^/]+)\/.* -> service\/src\/stores\/(?!\1\/)[^/]+\// },
    ],
    why: 'stores compute no policy: instants and states come in',
  },
  {
    name: 'targets',
    files: /^service\/src\/targets\//,
    tokens: [{ say: 'retry()', pattern: global('retry', String.raw`\s*\(`) }],
    imports: [
      { say: 'a store', path: /-> service\/src\/stores\// },
      { say: 'task state', path: /-> service\/src\/task\//, typesAllowed: true },
    ],
    why: 'a target sends one request and says what came of it',
  },
  {
    name: 'dispatch',
    files: /^service\/src\/dispatch\//,
    tokens: [{ say: 'process', pattern: global('process', String.raw`\s*\??\.`) }],
    imports: [
      { say: 'a store or target of one kind', path: /-> service\/src\/(?:stores|targets)\/[^/]+\// },
      { say: 'routes', path: /-> service\/src\/routes\// },
      { say: 'HTTP', path: /-> node:https?2?$/ },
      { say: 'third-party code', path: /-> npm:/ },
    ],
    why: 'dispatch knows ports and pure rules; SQL and HTTP are behind the ports',
  },
  {
    name: 'routes',
    files: /^service\/src\/routes\//,
    imports: [
      { say: 'dispatch', path: /-> service\/src\/dispatch\// },
      { say: 'targets', path: /-> service\/src\/targets\// },
      { say: 'a store of one kind', path: /-> service\/src\/stores\/[^/]+\// },
    ],
    why: 'a route checks, asks the store port and answers; sending is not its business',
  },
]
