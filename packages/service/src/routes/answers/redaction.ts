import { isSecretName, REDACTED } from '../../secrets.ts'

type Headers = { readonly [name: string]: string }

/** The same headers for everybody's eyes. Most have no secret, and come back as they are. */
export function redactHeaders(headers: Headers): Headers {
  for (const name in headers)
    if (isSecretName(name))
      return Object.fromEntries(
        Object.entries(headers).map(([each, value]) => [each, isSecretName(each) ? REDACTED : value]),
      )
  return headers
}
