import { redact, type RetryTaskInput } from '@secondwind/client'
import { existsSync } from 'node:fs'
import type { Answer, Command, GivenOptions } from '../command.ts'
import { usageFailure } from '../failure.ts'
import { readBytes } from '../input/read-bytes.ts'
import { readDocument } from '../input/read-document.ts'
import { instant } from '../input/read-instant.ts'
import { duration, exclusionProblems, flagOf, optional, readOptions, text, type Reader } from '../input/read-options.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { submitBatch } from './submit-batch.ts'
import { explanationOf, nextFor, showTask } from './task-page.ts'
import { answerOnceSettled, WAIT_OPTION, WAIT_READERS } from './settled.ts'

export const submitCommand: Command = remoteCommand({
  path: ['tasks', 'submit'],
  summary: 'hands a request over; once this returns it is on disk',
  arguments: [
    {
      usage: '[target]',
      say: 'the address to call; or a whole task as JSON: a file, the document as it stands, or - for stdin',
    },
  ],
  options: [
    { flag: '--method <method>', say: 'POST unless told' },
    { flag: '--header <name:value>', say: 'sent with every attempt; secrets belong in a file', isRepeatable: true },
    { flag: '--body <text>', say: 'what to send; @file takes a file, - takes stdin' },
    { flag: '--body-ref <bodyRef>', say: 'the body that bodies put has uploaded' },
    { flag: '--policy-id <name>', say: 'by this policy (default)' },
    { flag: '--policy-file <file>', say: 'by a policy of its own: a file, the document as it stands, or - for stdin' },
    { flag: '--idempotency-key <key>', say: 'the same key and the same request are the same task' },
    { flag: '--delay <duration>', say: 'how long to wait before the first attempt' },
    { flag: '--not-before <time>', say: 'no attempt before that: 10min, or 2026-11-16T02:00:00Z' },
    { flag: '--deadline <time>', say: 'no attempt after that' },
    { flag: '--metadata <name=value>', say: 'kept and shown, never sent', isRepeatable: true },
    { flag: '--callback-url <url>', say: 'told of its end, by one POST' },
    {
      flag: '--batch <file>',
      say: 'many tasks instead, a JSON document a line; - for stdin; exits with 6 unless all were taken',
    },
    { flag: '--ndjson', say: 'of a batch: a JSON document for each, one a line' },
    WAIT_OPTION,
  ],
  examples: [
    'tasks submit http://127.0.0.1:4747/_flaky/503x2 --body hello --wait 1min',
    'tasks submit task.json --idempotency-key order-8812',
    'tasks submit --batch tasks.ndjson',
  ],
  isChange: true,
  run: submit,
})

async function submit(call: RemoteCall): Promise<Answer> {
  const { client, args, options, terminal, clock, typed } = call
  const { batch } = readOptions(options, { batch: optional(text()) })
  if (batch !== undefined) refuseBeside(call)
  if (batch !== undefined) return submitBatch(batch, call)
  const [target] = args as [string?]
  if (target === undefined)
    throw usageFailure({
      code: 'missing-argument',
      what: 'there is nothing to submit',
      because: ['It does not say where to.'],
    })
  const { wait: waitMs, ...flags } = readFlags(target, options, clock.now())
  const asked = await readTask(target, flags, terminal)
  const { isNew, ...task } = await client.tasks.enqueue(asked)
  if (!isNew) terminal.tell('this request had come before, with this key: it is the same task\n')
  if (waitMs !== undefined) return answerOnceSettled(call, task, { waitMs, isEnough: () => false })
  const explained = options['json'] === true ? undefined : await explanationOf(client, task)
  const waits = explained && { waits: explained.explanation }
  return {
    data: task,
    show: page => showTask({ ...task, ...waits }, clock.now(), page),
    next: [...new Set([typed('tasks', 'watch', task.taskId), ...nextFor(task, call, explained?.hold)])],
  }
}

/** Of a batch each line says all of its task. */
function refuseBeside({ args, options, typed }: RemoteCall): void {
  const fields = submitCommand
    .options!.map(({ flag }) => flag.split(' ')[0]!)
    .filter(flag => !BESIDE_BATCH.includes(flag))
  const given = Object.keys(options)
    .map(flagOf)
    .filter(flag => fields.includes(flag))
  const words = [...(args[0] === undefined ? [] : [String(redact('targetUrl', args[0]))]), ...given]
  if (words.length === 0) return
  throw usageFailure({
    code: 'wrong-option',
    what: `${words.join(', ')} cannot stand beside --batch`,
    because: ['Each line of a batch says all of its task.'],
    next: [typed('tasks', 'submit', '--batch', String(options['batch']))],
  })
}

const BESIDE_BATCH: readonly string[] = ['--batch', '--ndjson', '--url', '--key-file', '--tenant']

/** All that is typed; what is wrong with it is said at once, before anything is handed over. */
function readFlags(target: string, options: GivenOptions, now: number) {
  const isOtherScheme = /^(?!https?:)[a-z][a-z\d+.-]*:\/\//i.test(target)
  const isNeither = !/^https?:/i.test(target) && target !== '-' && !target.startsWith('{') && !existsSync(target)
  const problems = exclusionProblems(options, ['delay', 'notBefore'], ['body', 'bodyRef'], ['policyId', 'policyFile'])
  const scheme = {
    at: '<target>',
    is: redact('targetUrl', target),
    say: 'must be an address that begins with http:// or https://, or a file that is there',
  }
  return readOptions(
    options,
    {
      method: optional(text()),
      header: optional(pairs(':', 'a header such as content-type: application/json')),
      body: optional(text()),
      bodyRef: optional(text()),
      policyId: optional(text()),
      policyFile: optional(text()),
      callbackUrl: optional(text()),
      idempotencyKey: optional(text()),
      delay: optional(duration(0, 315_576_000_000)),
      notBefore: optional(instant(now, 'ahead')),
      deadline: optional(instant(now, 'ahead')),
      metadata: optional(pairs('=', 'a pair such as team=checkout')),
      ...WAIT_READERS,
    },
    [...problems, ...(isOtherScheme || isNeither ? [scheme] : [])],
  )
}

/** The document, if there is one, and what flags put in place of its fields; the client checks the whole. */
async function readTask(
  target: string,
  { delay, deadline, body, header, metadata, policyFile, ...given }: Omit<ReturnType<typeof readFlags>, 'wait'>,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<RetryTaskInput> {
  const document = /^https?:\/\//i.test(target)
    ? { targetUrl: target }
    : ((await readDocument(target, { what: 'task' }, terminal)) as RetryTaskInput)
  const flags = {
    ...given,
    headers: header,
    delayMs: delay,
    deadlineAt: deadline,
    metadata,
    policy: policyFile === undefined ? undefined : await readDocument(policyFile, { what: 'policy' }, terminal),
    ...(body === undefined ? {} : await readBody(body, terminal)),
  }
  const typed = Object.entries(flags).filter(([, value]) => value !== undefined)
  return { ...document, ...Object.fromEntries(typed) }
}

/** `name: value`, as often as it was given. */
function pairs(separator: string, must: string): Reader<{ readonly [name: string]: string }> {
  return given => {
    const entries = [given].flat().map(one => {
      const at = String(one).indexOf(separator)
      return [
        String(one).slice(0, at).trim(),
        String(one)
          .slice(at + 1)
          .trim(),
        at,
      ] as const
    })
    const wrong = entries.findIndex(([name, , at]) => at < 1 || name === '')
    if (wrong !== -1) return { must: entries.length === 1 ? must : `${must}, each: number ${wrong + 1} is none` }
    return { value: Object.fromEntries(entries.map(([name, value]) => [name, value])) }
  }
}

async function readBody(
  given: string,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<Pick<RetryTaskInput, 'body' | 'bodyBase64'>> {
  if (given !== '-' && !given.startsWith('@')) return { body: given }
  return { bodyBase64: (await readBytes(given.replace(/^@/, ''), terminal)).toString('base64') }
}
