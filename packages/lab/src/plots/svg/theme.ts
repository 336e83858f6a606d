/**
 * Colours of pictures. The states are told apart by lightness as well as by hue, also by those who see no red or
 * green, and each has a contrast of 4.5 : 1 or more to its page. A page that brings its own sets `--plot-ink` and so on.
 */

export type Theme = 'light' | 'dark' | 'auto'

export type Colour = 'page' | 'ink' | 'quiet' | 'line' | 'ok' | 'running' | 'retrying' | 'dead' | 'held'

export const COLOURS: Readonly<Record<'light' | 'dark', Readonly<Record<Colour, string>>>> = {
  light: {
    page: '#FFFFFF',
    ink: '#10151D',
    quiet: '#5B6572',
    line: '#D5DBE3',
    ok: '#0B7A5E',
    running: '#1769D2',
    retrying: '#946200',
    dead: '#8E1206',
    held: '#3F2169',
  },
  dark: {
    page: '#0E1420',
    ink: '#E6EAF0',
    quiet: '#98A2B1',
    line: '#2A3446',
    ok: '#5BE5B8',
    running: '#4593F2',
    retrying: '#FFC22E',
    dead: '#EE6A55',
    held: '#E9DBFB',
  },
}

/** What a line looks like. */
export interface LineStyle {
  readonly colour: Colour
  readonly dashes?: string
}

/** Capacity and deadlines have `dead`. */
const SERIES_COLOURS: readonly Colour[] = ['running', 'retrying', 'ok', 'held', 'quiet']
const SERIES_DASHES = [undefined, '7 3', '2 3', '10 3 2 3', '1 2'] as const

/** Series in the order in which they are given; dashes tell them apart in print. No two of 25 look the same. */
export function styleOf(index: number): LineStyle {
  const round = Math.floor(index / SERIES_COLOURS.length)
  const dashes = SERIES_DASHES[(index + round) % SERIES_DASHES.length]
  return { colour: SERIES_COLOURS[index % SERIES_COLOURS.length]!, ...(dashes !== undefined && { dashes }) }
}

/** Rules for `plot-fill-…` and `plot-line-…`, below an element with the class `plot`. */
export function styleSheet(theme: Theme): string {
  const font =
    ".plot text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-variant-numeric:tabular-nums}"
  const weight = '.plot .plot-strong{font-weight:600;font-size:15px}'
  if (theme !== 'auto') return font + weight + rules(COLOURS[theme], false)
  return `${font}${weight}${rules(COLOURS.light, true)}@media (prefers-color-scheme:dark){${rules(COLOURS.dark, true)}}`
}

function rules(colours: Readonly<Record<Colour, string>>, canBeSet: boolean): string {
  return Object.entries(colours)
    .map(([name, colour]) => {
      const value = canBeSet ? `var(--plot-${name},${colour})` : colour
      return `.plot .plot-fill-${name}{fill:${value}}.plot .plot-line-${name}{stroke:${value}}`
    })
    .join('')
}
