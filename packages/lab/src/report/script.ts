/**
 * What makes a report live, for a browser. It reads the table of values beside each picture, and writes texts, never
 * markup: what the table holds cannot become more than words.
 */
export const SCRIPT = `
'use strict'
for (const figure of document.querySelectorAll('figure.live')) {
  const frame = figure.querySelector('.frame')
  const svg = figure.querySelector('svg')
  const output = figure.querySelector('output')
  const table = figure.querySelector('table')
  const names = [...table.tHead.rows[0].cells].slice(1).map(cell => cell.textContent)
  const numbers = table.dataset.columns.split(' ')
  const stops = [...table.tBodies[0].rows].map(row => ({
    place: Number(row.dataset.place),
    say: row.cells[0].textContent,
    values: [...row.cells].slice(1).map(cell => cell.textContent),
  }))
  const left = Number(svg.dataset.left)
  const right = Number(svg.dataset.right)
  const hidden = new Set()
  let current = -1

  const cursor = document.createElementNS('http://www.w3.org/2000/svg', 'line')
  cursor.setAttribute('class', 'plot-line-ink hidden')
  cursor.setAttribute('y1', svg.dataset.top)
  cursor.setAttribute('y2', svg.dataset.bottom)
  svg.append(cursor)

  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text })
  const show = () => {
    cursor.classList.toggle('hidden', current === -1)
    if (current === -1) return output.replaceChildren()
    const { place, say, values } = stops[current]
    const x = String(left + place * (right - left))
    cursor.setAttribute('x1', x)
    cursor.setAttribute('x2', x)
    const said = values.map((value, index) => [names[index] + ' ' + value, index]).filter(([, index]) => !hidden.has(index))
    output.replaceChildren(make('b', say), ...said.map(([text]) => make('span', text)))
  }
  const nearest = place => {
    let best = 0
    for (const [index, stop] of stops.entries())
      if (Math.abs(stop.place - place) < Math.abs(stops[best].place - place)) best = index
    return best
  }
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect()
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width
    current = x < left - 4 || x > right + 4 ? -1 : nearest((x - left) / (right - left))
    show()
  })
  svg.addEventListener('pointerleave', () => {
    current = -1
    show()
  })
  frame.addEventListener('keydown', event => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    current = Math.min(stops.length - 1, Math.max(0, current + step))
    show()
  })

  if (names.length < 2) continue
  const toggles = document.createElement('fieldset')
  toggles.className = 'toggles'
  // More than five lines at once are a thicket: these are spread from the first to the last, the others can be asked for.
  const shownAtFirst = new Set([0, 1, 2, 3, 4].map(part => Math.round((part * (names.length - 1)) / 4)))
  const isSome = shownAtFirst.size < names.length
  toggles.append(make('legend', isSome ? 'Shown, at first ' + shownAtFirst.size + ' of ' + names.length : 'Shown'))
  for (const [index, name] of names.entries()) {
    const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: shownAtFirst.has(index) })
    const choose = () => {
      if (box.checked) hidden.delete(index)
      else hidden.add(index)
      for (const shape of svg.querySelectorAll('[data-series="' + numbers[index] + '"]'))
        shape.classList.toggle('hidden', !box.checked)
      for (const key of svg.querySelectorAll('[data-key="' + numbers[index] + '"]'))
        key.classList.toggle('faded', !box.checked)
      show()
    }
    box.addEventListener('change', choose)
    choose()
    const label = document.createElement('label')
    label.append(box, ' ' + name)
    toggles.append(label)
  }
  output.after(toggles)
}
`
