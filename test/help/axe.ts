// What axe finds in a page that keeps people from using it.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Lists what axe finds by these rules, by default all, each with the element; the page must run scripts. */
export async function violationsOf(
  page: Page,
  rules: readonly string[] | null = null,
): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) {
    // What each document begins with, V8 compiles once; what is evaluated later, for each of them.
    await page.addInitScript(axe)
    await page.evaluate(axe)
  }
  // A frame is looked at as a part of the page, and what is in it is another page.
  const options = { resultTypes: ['violations'], iframes: false, ...(rules !== null && { runOnly: rules }) }
  return page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
  )
}
