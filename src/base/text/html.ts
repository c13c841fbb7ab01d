// html`…`, the template tag that escapes what it is given.

/** Safe markup: made by `html` or `raw`, never by hand. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }

  toString(): string {
    return this.markup
  }
}

export type HtmlValue = Html | string | number | null | false | readonly HtmlValue[]

/** Escapes texts, joins markup and lists of it, and leaves out null and false. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = strings[0]!
  for (let i = 0; i < values.length; i++) markup += textOf(values[i]!) + strings[i + 1]!
  return new Html(markup)
}

/** For our own constants only. */
export function raw(markup: string): Html {
  return new Html(markup)
}

/** For element content and quoted attributes; all outside ASCII becomes a reference. */
export function escapeHtml(text: string): string {
  return text.replace(special, reference)
}

/** Escapes all but letters and spaces, so that no part of a text can be taken for anything but text. */
export function spellOut(text: string): Html {
  return new Html(text.replace(notPlain, reference))
}

// Without the flag i, for which the Kelvin sign is a letter k.
const notPlain = /[^A-Za-z ]/gu
const special = /[^\t\n\r\x20-\x7e]|[&<>"'`]/gu

function textOf(value: HtmlValue): string {
  if (value instanceof Html) return value.markup
  if (value === null || value === false) return ''
  if (typeof value === 'object') return value.map(textOf).join('')
  return escapeHtml(String(value))
}

function reference(character: string): string {
  const point = character.codePointAt(0)!
  return `&#${isCharacter(point) ? point : replacement};`
}

const replacement = 0xfffd

/** HTML permits no reference to a control character or half a surrogate pair. */
function isCharacter(point: number): boolean {
  return point >= 0x20 && (point < 0x7f || point > 0x9f) && (point < 0xd800 || point > 0xdfff)
}
