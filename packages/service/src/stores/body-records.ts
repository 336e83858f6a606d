/** What a store knows of large bodies: what they are, where they lie, and how many tasks need them. Never their bytes. */
import type { Answer } from './task-store.ts'

export interface BodyStoring {
  /** Keeps what was uploaded; the same bytes again are the same body, and lie where the newest upload is. */
  putBody(ask: PutBody): Promise<Answer & PutBodyResult>
  /** Always exact. */
  body(name: BodyName): Promise<BodyRecord | undefined>
  /** Forgets bodies that no task needs, and that nobody put or needed since; answers where they lay. */
  sweepBodies(ask: SweepBodies): Promise<Answer & { readonly locations: readonly string[] }>
  /** Of these locations those at which a body lies. */
  keptLocations(locations: readonly string[]): Promise<readonly string[]>
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
}

export interface PutBody extends Omit<BodyRecord, 'createdAt'> {
  /** All bodies of the tenant together. */
  readonly mostBytes: number
}

export type PutBodyResult =
  | {
      readonly kind: 'created' | 'existing'
      readonly record: BodyRecord
      /** Where it lay before: nobody asks for it there any more. */
      readonly leftLocation?: string
    }
  | { readonly kind: 'full' }

export interface SweepBodies {
  readonly unusedBefore: number
  readonly limit: number
}
