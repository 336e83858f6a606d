import type { Theme } from './theme.ts'

/** What a picture is drawn on. */
export interface Sheet {
  readonly width: number
  readonly theme: Theme
}
