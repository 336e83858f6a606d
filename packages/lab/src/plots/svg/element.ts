/** SVG as text: the same data give the same bytes, and no text can become markup. */

export type Attributes = Readonly<Record<string, string | number | undefined>>

/** Children are markup that was made here; texts go through `text`. */
export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([attribute, value]) => ` ${attribute}="${typeof value === 'number' ? digits(value) : escaped(value!)}"`)
    .join('')
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join('')}</${name}>`
}

export function text(content: string, attributes: Attributes): string {
  return element('text', attributes, escaped(content))
}

/** What a browser shows when the pointer rests on the shape. */
export function hint(content: string): string {
  return element('title', {}, escaped(content))
}

/** Characters that XML cannot hold are left out, not escaped: one of them, and no picture is shown at all. */
// oxlint-disable-next-line no-control-regex
const IMPOSSIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escaped(content: string): string {
  return content.replaceAll(IMPOSSIBLE, '').replaceAll(/[&<>"']/g, character => ENTITIES[character]!)
}

/** A tenth of a pixel is finer than anybody sees. */
function digits(value: number): string {
  const rounded = Math.round(value * 10) / 10
  return String(rounded === 0 ? 0 : rounded)
}

/** A path through points, from the first on. */
export function pathThrough(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${digits(x)} ${digits(y)}`).join('')
}
