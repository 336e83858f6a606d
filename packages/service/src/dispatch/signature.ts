import {
  ID_HEADER,
  secretBytes,
  SIGNATURE_HEADER,
  signedHead,
  TIMESTAMP_HEADER,
  writeSignature,
} from '@secondwind/client/signature'
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { Lane } from '../task/lane.ts'

/** The secrets in force for a lane's deliveries, `whsec_…` each; two while one replaces the other, none: unsigned. */
export type SigningSecretsOf = (lane: Lane) => readonly string[]

export interface Signed {
  readonly taskId: string
  readonly body: Uint8Array | null
  /** By the wall clock: whoever verifies has no other to compare it with. */
  readonly sentAt: number
}

/** What makes a delivery one of ours, whoever looks at it: a signature for each secret. */
export function signatureHeaders(
  { taskId, body, sentAt }: Signed,
  secrets: readonly string[],
): {
  readonly [name: string]: string
} {
  const sentAtSeconds = Math.floor(sentAt / 1_000)
  const head = signedHead(taskId, sentAtSeconds)
  const signatures = secrets.map(secret => {
    const key = secretBytes(secret)
    // An empty key would fit whatever anybody signs without one.
    assert(key !== undefined, 'a signing secret is none')
    const hmac = createHmac('sha256', key).update(head)
    if (body !== null) hmac.update(body)
    return writeSignature(hmac.digest('base64'))
  })
  return {
    [ID_HEADER]: taskId,
    [TIMESTAMP_HEADER]: String(sentAtSeconds),
    [SIGNATURE_HEADER]: signatures.join(' '),
  }
}
