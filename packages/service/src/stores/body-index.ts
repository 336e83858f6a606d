/** What a store knows of large bodies: what they are, where they lie, and until when they are needed. Never their bytes. */
import type { Answer } from './store.ts'

export interface BodyIndex {
  /** Keeps an upload; the same bytes again are the same body, and lie where the newest upload is. */
  putBody(ask: NewBody): Promise<Answer & PutBody>
  /**
   * Always exact, in the order asked; an unknown body is left out. Where `neededUntil` is given each is needed at least until
   * then: an intake says so before its task is there, and a process that dies in between leaves bytes too long, never too
   * short.
   */
  bodies(names: readonly BodyName[], neededUntil?: number): Promise<readonly BodyRecord[]>
  /** Forgets bodies that are no longer needed; answers where they lay. */
  sweepBodies(ask: SweepBodies): Promise<Answer & { readonly locations: readonly string[] }>
}

/** A tenant's bodies are its own: the same bytes of another are another body. */
export interface BodyName {
  readonly tenant: string
  readonly bodyRef: string
}

export interface BodyRecord extends BodyName {
  readonly sizeBytes: number
  readonly contentType: string
  readonly location: string
  /** When these bytes were put first. */
  readonly createdAt: number
  readonly neededUntil: number
}

export interface NewBody extends Omit<BodyRecord, 'createdAt'> {
  /** All bodies of the tenant together. */
  readonly mostBytes: number
}

export type PutBody =
  | {
      readonly kind: 'created' | 'existing'
      readonly record: BodyRecord
      /** Where the body lay before: nothing refers to these bytes any more. */
      readonly leftLocation?: string
    }
  | { readonly kind: 'full' }

export interface SweepBodies {
  readonly neededBefore: number
  readonly limit: number
}
