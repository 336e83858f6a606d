/**
 * What keeps a text from being well-formed XML, as far as our pictures use it: elements that close, attributes that are
 * quoted and not repeated, the five entities, and only characters that XML allows.
 */
export function problemOfXml(source: string): string | undefined {
  const open: string[] = []
  let [at, roots] = [0, 0]
  while (at < source.length) {
    const tag = TAG.exec(source.slice(at))
    if (tag !== null) {
      const [whole, closing, name, attributes, selfClosing] = tag
      if (closing === '/' ? open.pop() !== name : hasRepeated(attributes!)) return `at ${at}: ${whole}`
      if (closing === '' && open.length === 0) roots++
      if (closing === '' && selfClosing === '') open.push(name!)
      at += whole.length
      continue
    }
    const text = /^[^<]+/.exec(source.slice(at))?.[0]
    if (text === undefined) return `at ${at}: ${source.slice(at, at + 40)}`
    const problem = textProblem(text) ?? (open.length === 0 && text.trim() !== '' ? 'text outside' : undefined)
    if (problem !== undefined) return `at ${at}: ${problem}`
    at += text.length
  }
  if (open.length > 0) return `${open.at(-1)} is not closed`
  return roots === 1 ? undefined : `${roots} roots`
}

const TAG = /^<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w:-]+="(?:[^"<&]|&(?:amp|lt|gt|quot|#39);)*")*)\s*(\/?)>/

function hasRepeated(attributes: string): boolean {
  const names = [...attributes.matchAll(/\s([\w:-]+)="/g)].map(([, name]) => name)
  return new Set(names).size < names.length
}

function textProblem(text: string): string | undefined {
  if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) return 'a bare ampersand'
  if (text.includes(']]>')) return 'the end of a section'
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u.test(text) ? 'a forbidden character' : undefined
}
