import type { Service, ServiceOptions, StartFailure } from '@secondwind/service'
import { adminKeyFileOf, readConfig } from '@secondwind/service/config'
import type { Call, Command } from '../command.ts'
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts'
import { Failure, problemsFailure } from '../failure.ts'
import { retyped, typed, typedWith } from '../input/typed.ts'
import { freePath } from '../output/output-file.ts'
import { tellOpenKeyFile } from '../remote/open-key-file.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { introduce } from './introduction.ts'
import { sayKept } from './kept.ts'
import { lossyOutput } from './lossy-output.ts'
import { narrate, sayLogLine } from './narrator.ts'
import { asTypedHere } from './program-name.ts'
import { problemsOfUnknown, SETTING_OPTIONS, settingsOf } from './settings.ts'
import { untilAskedToEnd } from './signals.ts'
import { strangeVariables } from './strange-variables.ts'

/** `serve` and `dev` are one service; they differ in what they allow, and in how they talk. */
export function serviceCommand({
  name,
  ...rest
}: Pick<Command, 'summary' | 'examples'> & { readonly name: 'serve' | 'dev' }): Command {
  const options = [...SETTING_OPTIONS, { flag: '--json', say: LOG_FORMS[name] }]
  return { path: [name], options, tellsUnknown: true, ...rest, run: call => run(call, name === 'dev') }
}

const LOG_FORMS = {
  serve: 'the log on stdout, a JSON document in each line; so it is without it',
  dev: 'the log on stdout, a JSON document in each line, instead of a line for each attempt',
} as const

async function run(call: Call, isDevelopment: boolean): Promise<ExitCode> {
  const { options, unknown, terminal } = call
  for (const say of strangeVariables()) terminal.tell(`${say}\n`)
  const settings = settingsOf(options)
  const { config, problems = [] } = readConfig(settings)
  const all = [...problemsOfUnknown(unknown), ...problems]
  if (config === undefined || all.length > 0)
    throw problemsFailure({ code: 'wrong-setting', what: 'the service cannot be started like this' }, all)
  tellOpenKeyFile(adminKeyFileOf(settings), terminal.tell)
  const asked = untilAskedToEnd()
  const voice = voiceOf(isDevelopment && options['json'] !== true, terminal)
  const service = await start({ config, isDevelopment, ...voice }, call)
  terminal.tell(introduce(service, isDevelopment))
  terminal.tell(`\n${await asked}: no new attempts; those under way may finish\n`)
  await service.stop()
  terminal.tell(`stopped; ${sayKept(await service.kept, call)}\n`)
  return EXIT_CODES.done
}

/** People read a line for each attempt; programs read the log, which for people holds only what went wrong. */
function voiceOf(isForPeople: boolean, terminal: Terminal): Omit<ServiceOptions, 'config' | 'isDevelopment'> {
  const { write, lostLines } = lossyOutput(terminal)
  if (!isForPeople) return { log: write, lostLogLines: lostLines, logLevel: 'info' }
  const events = narrate({ write, out: terminal.out })
  return { log: line => terminal.tell(sayLogLine(line)), lostLogLines: lostLines, logLevel: 'error', events }
}

async function start(options: ServiceOptions, call: Call): Promise<Service> {
  // Not before it is needed: no other command should wait until a whole server has been read.
  const service = await import('@secondwind/service')
  try {
    return await service.startService(options)
  } catch (error) {
    if (!(error instanceof service.StartFailure)) throw error
    const { code, message, because } = error
    throw new Failure({
      code,
      what: message,
      because: [because],
      so: 'Nothing was started, and nothing was changed.',
      next: nextOf(error, call).map(line => asTypedHere(line)),
      ...(WRONG_SETTINGS.includes(code) && { exitCode: EXIT_CODES.usage }),
    })
  }
}

/** What no second start would mend; a port that is taken may be free by then. */
const WRONG_SETTINGS: readonly string[] = ['no-keys', 'dev-exposed', 'no-directory']

/** What was typed, mended: all else of it is meant as before. */
function nextOf({ code, cause, next }: StartFailure, { words, options }: Call): readonly string[] {
  // Beside the service that has the port, a copy of its data on another one would send every task a second time.
  const isTrial = words[0] === 'dev' && options['data'] === undefined && options['config'] === undefined
  const doctor = typed(['doctor', ...retyped(options, SETTING_OPTIONS)])
  if (code === 'port-taken') {
    // The directory is perhaps in use as well; one that is there already may hold tasks of somebody else.
    const another = options['store'] === 'memory' ? [] : ['--data', freePath('secondwind-trial')]
    return [doctor, ...(isTrial ? [typedWith([...words, ...another], '--port', '0')] : [])]
  }
  if (code === 'cannot-listen') {
    // Low ports are for the system; whatever else is wrong is wrong with the address.
    const { code: reason } = cause as NodeJS.ErrnoException
    return [reason === 'EACCES' ? typedWith(words, '--port', '0') : typedWith(words, '--host', '127.0.0.1')]
  }
  if (code === 'no-directory') return [typedWith(words, '--data', 'secondwind-data')]
  if (code === 'no-keys') return [...next.slice(0, 1), typedWith(words, '--admin-key-file', 'admin.key')]
  // Whoever serves that directory can be looked at; another directory would be another, empty service.
  if (code === 'store-in-use') return [doctor]
  return next
}
