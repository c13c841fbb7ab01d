// How well the texts of a page can be read, by the contrast ratio of WCAG 2.2.

import type { Page } from 'playwright-core'

export interface Contrast {
  readonly text: string
  readonly colour: Colour
  readonly ground: Colour
  /** From 1 to 21; 4.5 is enough for AA. */
  readonly ratio: number
}

type Colour = readonly number[]

/** Measures each text that is shown within what the selector finds. */
export async function contrastsIn(page: Page, selector = 'body'): Promise<readonly Contrast[]> {
  const texts = await page.evaluate<readonly Omit<Contrast, 'ratio'>[]>(coloursIn(selector))
  return texts.map(text => ({ ...text, ratio: contrast(text.colour, text.ground) }))
}

export function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map(value => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function contrast(a: Colour, b: Colour): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light! + 0.05) / (dark! + 0.05)
}

/** Lists, in the page, each text with its colour and that of the nearest ground that is not transparent. */
const coloursIn = (selector: string) => `(() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number)
  const groundOf = element => {
    const ground = numbers(getComputedStyle(element).backgroundColor)
    return ground[3] === 0 ? groundOf(element.parentElement) : ground.slice(0, 3)
  }
  const texts = []
  for (const element of document.querySelectorAll('${selector} *')) {
    const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())
    if (!own || !element.checkVisibility()) continue
    const colour = numbers(getComputedStyle(element).color).slice(0, 3)
    texts.push({ text: element.textContent.trim(), colour, ground: groundOf(element) })
  }
  return texts
})()`
