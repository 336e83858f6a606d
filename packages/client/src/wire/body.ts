/** A large body that tasks name, and that is uploaded once. */
export interface StoredBody {
  /** The SHA-256 of its bytes. */
  readonly bodyRef: string
  readonly sizeBytes: number
  /** Sent along where a task gives none of its own. */
  readonly contentType: string
  /** When these bytes came first. */
  readonly createdAt: number
}
