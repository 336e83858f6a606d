/**
 * Headers that say how a message is carried, not what it is (RFC 9110 §7.6.1): the service writes them, no task brings them.
 * `host` is among them: with a name of its own a request could ask an allowed address for a server that is not.
 */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
