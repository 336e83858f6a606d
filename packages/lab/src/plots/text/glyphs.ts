/** What pictures in a terminal are made of; every glyph is one column wide. */
export interface Glyphs {
  readonly isAscii: boolean
  readonly full: string
  readonly retries: string
  readonly hedges: string
  /** Retries or hedges that fill less than half a cell. */
  readonly few: string
  /** The second of two policies where it is the larger. */
  readonly second: string
  /** A cell filled from below by first attempts: almost nothing first, almost full last; one alone stands for less than half. */
  readonly partial: readonly string[]
  /** Cells from some to most. */
  readonly shades: readonly string[]
  /** A line at the upper edge of its cell. */
  readonly capacity: string
  /** A line somewhere in its cell. */
  readonly capacityInside: string
  readonly line: string
  readonly upright: string
  readonly tick: string
  readonly corner: string
  readonly mark: string
  readonly spanFrom: string
  readonly spanUntil: string
  readonly branch: string
  readonly lastBranch: string
  readonly arrow: string
  readonly failed: string
  readonly succeeded: string
  readonly running: string
  readonly now: string
  readonly seen: string
  readonly ellipsis: string
}

export const BLOCKS: Glyphs = {
  isAscii: false,
  full: '█',
  retries: '▒',
  hedges: '░',
  few: '·',
  second: '╱',
  partial: ['▁', '▂', '▃', '▄', '▅', '▆', '▇'],
  shades: ['░', '▒', '▓', '█'],
  capacity: '▔',
  capacityInside: '╌',
  line: '─',
  upright: '│',
  tick: '┤',
  corner: '└',
  mark: '┬',
  spanFrom: '├',
  spanUntil: '┤',
  branch: '├─',
  lastBranch: '└─',
  arrow: '─►',
  failed: '✕',
  succeeded: '✓',
  running: '●',
  now: '▲',
  seen: '●',
  ellipsis: '…',
}

export const ASCII: Glyphs = {
  isAscii: true,
  full: '#',
  retries: ':',
  hedges: '.',
  few: ',',
  second: '/',
  partial: ['_'],
  shades: ['.', ':', '+', '#'],
  capacity: '-',
  capacityInside: '~',
  line: '-',
  upright: '|',
  tick: '+',
  corner: '+',
  mark: '+',
  spanFrom: '|',
  spanUntil: '|',
  branch: '|-',
  lastBranch: '`-',
  arrow: '->',
  failed: 'x',
  succeeded: 'v',
  running: '*',
  now: '^',
  seen: 'o',
  ellipsis: '...',
}
