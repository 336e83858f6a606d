import { classifyError, permanent, transient } from '@secondwind/resilience'
import { errors } from 'undici'
import type { TargetAnswer } from '../target.ts'

export type Failed = Extract<TargetAnswer, { readonly kind: 'failed' }>

/** What goes wrong here, and not in the network. */
export class TargetError extends Error {
  readonly code: 'attempt-timeout' | 'aborted' | 'target-invalid' | 'bad-response'

  constructor(code: TargetError['code'], message: string) {
    super(message)
    this.code = code
  }

  override get name(): string {
    return 'TargetError'
  }
}

export type NotTried = Extract<TargetAnswer, { readonly kind: 'not-tried' }>

/** What this machine can be short of: descriptors, memory for sockets, ports of its own. */
const LACKS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/** What became of a request that has no answer. */
export function answerless(error: unknown, isSent: boolean): Failed | NotTried {
  const code = codeOf(error)
  if (isSent || !LACKS.has(code)) return failureOf(error, isSent)
  const errorMessage = `no connection can be opened from here: this machine, or its limit for the process, is at its end (${code})`
  return { kind: 'not-tried', errorCode: 'resources-out', errorMessage }
}

/** What a failed request says of itself. `isSent`: some of it may have reached the server. */
export function failureOf(error: unknown, isSent: boolean): Failed {
  const code = codeOf(error)
  const { errorCode, say } = causeOf(error, code, isSent)
  return {
    kind: 'failed',
    error: readable(error, errorCode, isSent),
    errorCode,
    errorMessage: (say ?? sayCode(errorCode, code, isSent)).slice(0, LONGEST_MESSAGE),
    unsent: !isSent,
  }
}

/** Whoever wanted the answer does not want it any more. */
export function cutOff(reason: unknown, isSent: boolean): Failed {
  return {
    kind: 'failed',
    error: reason,
    errorCode: 'aborted',
    errorMessage: 'the attempt was cut off',
    unsent: !isSent,
  }
}

/** It is a line in a list. */
const LONGEST_MESSAGE = 250

interface FailureCause {
  readonly errorCode: string
  /** When the error's own words are ours, and so are short and hold no secret. */
  readonly say?: string
}

/** By the code of Node, OpenSSL or undici. Where both sides of the sending know a code, it is told apart below. */
const CAUSES: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connect-refused',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  ENOTFOUND: 'dns-failed',
  EAI_AGAIN: 'dns-temporary',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  // The server closed before its answer was whole.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'headers-too-large',
  EPROTO: 'tls',
}

const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERROR_IN_C|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_|HOSTNAME_MISMATCH)/

/** What undici calls a broken socket when it was the answer that it does not understand. */
const BROKEN_RULES: { readonly [message: string]: string } = {
  // Behind it another protocol is spoken: there is no answer to wait for.
  'bad upgrade': 'the target sent 101 Switching Protocols, which nobody had asked for; its answer was not read',
  'bad response': 'the target sent 100 Continue with headers that have no end',
}

function causeOf(error: unknown, code: string, isSent: boolean): FailureCause {
  const { message, syscall } = (error ?? {}) as { readonly message?: unknown; readonly syscall?: unknown }
  if (error instanceof TargetError) return { errorCode: error.code, say: error.message }
  if (code === 'target-forbidden') return { errorCode: code, say: String(message) }
  if (error instanceof errors.HTTPParserError) return brokenRule(error.message)
  const broken = code === 'UND_ERR_SOCKET' ? BROKEN_RULES[String(message)] : undefined
  if (broken !== undefined) return { errorCode: 'bad-response', say: broken }
  // Its parser lets 000 to 099 pass as a status, and the code behind it asserts that there is none.
  if (code === 'ERR_ASSERTION' && String(message).includes('statusCode')) return brokenRule('(Invalid status code)')
  const known = CAUSES[code]
  if (known !== undefined) return { errorCode: known }
  if (TLS_CODE.test(code)) return { errorCode: 'tls' }
  if (syscall === 'getaddrinfo') return { errorCode: 'dns-failed' }
  // A connection on which nothing comes back any more, not even the acknowledgement of a byte.
  if (code === 'ETIMEDOUT') return { errorCode: isSent ? 'reset' : 'connect-timeout' }
  return { errorCode: isSent ? 'network-error' : 'connect-failed' }
}

/** The parser names the rule in brackets, in words of its own and not of the answer's. */
function brokenRule(message: string): FailureCause {
  const rule = /\((.*)\)$/.exec(message)?.[1] ?? ''
  // In the middle of a body that has no end, or of a header.
  if (rule === 'Invalid EOF state') return { errorCode: 'reset' }
  return { errorCode: 'bad-response', say: `${SENTENCES['bad-response']}: ${rule}` }
}

const SENTENCES: { readonly [errorCode: string]: string } = {
  'connect-refused': 'nobody listens at the address',
  'connect-timeout': 'no connection came about in time',
  'connect-failed': 'no connection could be opened',
  'network-error': 'the connection failed before the answer was whole',
  'dns-failed': 'the name cannot be resolved',
  'dns-temporary': 'the name cannot be resolved now',
  unreachable: 'no way leads to the address',
  'headers-too-large': 'the headers of the answer are too large',
  'bad-response': 'the answer is no HTTP/1.1',
}

const TLS_SENTENCES: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the issuer of the certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of the certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the issuer of the certificate is not known',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not speak TLS',
}

function sayCode(errorCode: string, code: string, isSent: boolean): string {
  const said = (sentence: string): string => (code === '' ? sentence : `${sentence} (${code})`)
  if (errorCode === 'tls') return said(TLS_SENTENCES[code] ?? 'TLS failed')
  if (errorCode !== 'reset') return said(SENTENCES[errorCode] ?? errorCode)
  const when = isSent ? 'after the request went out and before the answer was whole' : 'before the request was sent'
  return said(`the connection was closed ${when}`)
}

/** The error in a form that the library's rules read for what it is; as it came wherever they do. */
function readable(error: unknown, errorCode: string, isSent: boolean): unknown {
  if (errorCode === 'target-forbidden' || errorCode === 'target-invalid') return permanent(error)
  // A certificate does not mend itself, and who went away says nothing of the server: the rules know.
  if (errorCode === 'tls' || errorCode === 'aborted') return error
  const { fault, unknown } = classifyError(error, [], 0)
  if (!isSent) return fault === 'transient' ? error : transient(error)
  return unknown ? lostAnswer(error) : error
}

/** The request may have been carried out, whatever kept the answer from being read. */
function lostAnswer(cause: unknown): Error {
  return Object.assign(new Error('the answer was lost', { cause }), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}
