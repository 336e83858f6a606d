/** Between threads bytes are a string of as many characters: a hundred buffers cost more than all else in a claim. */
export type Bytes = Uint8Array | string | null

export function bytesToText(bytes: Bytes): string | null {
  if (bytes === null || typeof bytes === 'string') return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

export function bytesOf(bytes: Bytes): Uint8Array | null {
  if (bytes === null || typeof bytes !== 'string') return bytes
  const { buffer, byteOffset, byteLength } = Buffer.from(bytes, 'latin1')
  return new Uint8Array(buffer, byteOffset, byteLength)
}
