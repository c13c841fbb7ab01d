// The mark of an app: its logo, or the initials of its name.

import { hash } from 'node:crypto'
import { memoizeOnce } from '../../base/memo.ts'
import { type Html, html } from '../../base/text/html.ts'

/** The number of colours for initials; each has its class in the style of our pages. */
export const markColours = 6

/** Hidden from screen readers. The initials are also shown if a logo does not load. */
export function appMark(name: string, logo: string | null, size: 'little' | '' = ''): Html {
  const initials = initialsOf(name) || anyApp
  const sign =
    logo === null
      ? html`<bdi>${initials}</bdi>`
      : html`<img src="${logo}" alt="${initials}" referrerpolicy="no-referrer">`
  return html`<span class="app-mark c${colourOf(name)}${size !== '' && ` ${size}`}" aria-hidden="true">${sign}</span>`
}

/** Only initials: logos would reveal to the hosts of all apps who views the list. */
export function markedName(name: string, content: Html): Html {
  return html`<span class="marked">${appMark(name, null, 'little')}<span>${content}</span></span>`
}

/** The mark of a name without a letter: a square. */
const anyApp = '\u25a2'

/**
 * Only letters and digits count: an emoji, such as a tick, would say something about the app. One letter in
 * scripts without capitals, where letters are wide or join; else two.
 */
export function initialsOf(name: string): string {
  const words = name.normalize('NFC').match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*/gu) ?? []
  const [first = '', second = ''] = words.slice(0, 2).map(initialOf)
  return hasCapitals.test(first) && hasCapitals.test(second) ? first + second : first
}

const hasCapitals = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\d]/u

/** Maximum of combining marks per letter: no language needs more, and any number could be heaped up. */
const maxMarks = 2

function initialOf(word: string): string {
  const [{ segment }] = letters().segment(word) as Iterable<{ segment: string }> as [{ segment: string }]
  const [letter = '', ...marks] = segment
  const capital = hasCapitals.test(letter) ? letter.toUpperCase() : letter
  // Some capitals are two letters, such as that of the German sharp s.
  const [whole = letter] = [capital].filter(text => [...text].length === 1)
  return whole + marks.slice(0, maxMarks).join('')
}

const letters = memoizeOnce(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

function colourOf(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 4), 16) % markColours
}
