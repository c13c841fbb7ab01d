// What of a page is wider than the box that it is in.

import type { Page } from 'playwright-core'

/** Lists the elements whose content crosses their own border, each with its width and how wide its content is; those that scroll or are out of sight don't count. */
export function crossingsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(`(() => {
    const isClipped = element => element !== null && (getComputedStyle(element).overflowX !== 'visible' || isClipped(element.parentElement))
    const crossing = [...document.querySelectorAll('body, body *:not(svg *, select, option)')]
      .filter(element => element.clientWidth > 0 && element.scrollWidth > element.clientWidth && !isClipped(element))
    return crossing.map(element =>
      element.outerHTML.slice(0, 80) + ': ' + element.scrollWidth + ' in ' + element.clientWidth + ' px')
  })()`)
}
