// The sign of an app: its logo, or the initials of its name.

import { hash } from 'node:crypto'
import { memoizeOnce } from '../../base/memo.ts'
import { type Html, html } from '../../base/text/html.ts'

/** How many colours there are for initials; each has its class in the style of our pages. */
export const markColours = 6

/** Makes the sign of an app beside its name, of which it tells a screen reader nothing more. The initials are also shown where a logo does not load. */
export function appMark(name: string, logo: string | null, size: 'little' | '' = ''): Html {
  const initials = initialsOf(name) || anyApp
  const sign =
    logo === null
      ? html`<bdi>${initials}</bdi>`
      : html`<img src="${logo}" alt="${initials}" referrerpolicy="no-referrer">`
  return html`<span class="app-mark c${colourOf(name)}${size !== '' && ` ${size}`}" aria-hidden="true">${sign}</span>`
}

/** Makes the name of an app in a list, beside its initials: logos would tell the hosts of all apps who looks at the list. */
export function markedName(name: string, content: Html): Html {
  return html`<span class="marked">${appMark(name, null, 'little')}<span>${content}</span></span>`
}

/** What stands for a name without a letter: a square. */
const anyApp = '\u25a2'

/**
 * Returns the initials of a name: those of its first two words in scripts that have capitals, and of its first word in others, whose letters are wide or
 * join. Only letters and digits count: an emoji, such as a tick, would say something about the app. Empty where there is none.
 */
export function initialsOf(name: string): string {
  const words = name.normalize('NFC').match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*/gu) ?? []
  const [first = '', second = ''] = words.slice(0, 2).map(initialOf)
  return hasCapitals.test(first) && hasCapitals.test(second) ? first + second : first
}

const hasCapitals = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\d]/u

/** Marks of a letter that are kept: no language needs more, and any number could be heaped up. */
const mostMarks = 2

function initialOf(word: string): string {
  const [{ segment }] = letters().segment(word) as Iterable<{ segment: string }> as [{ segment: string }]
  const [letter = '', ...marks] = segment
  const capital = hasCapitals.test(letter) ? letter.toUpperCase() : letter
  // Some capitals are two letters, such as that of the German sharp s.
  const [whole = letter] = [capital].filter(text => [...text].length === 1)
  return whole + marks.slice(0, mostMarks).join('')
}

const letters = memoizeOnce(() => new Intl.Segmenter('en', { granularity: 'grapheme' }))

/** Returns the colour of a name, which is the same on every page. */
function colourOf(name: string): number {
  return Number.parseInt(hash('sha256', name).slice(0, 4), 16) % markColours
}
