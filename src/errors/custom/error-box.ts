// The box that an Error Page may contain: a summary of the error that looks the same in any page.

import { type Html, type HtmlValue, html, raw } from '../../base/text/html.ts'
import { errorRows } from '../catalogue/catalogue.ts'
import { form, render } from '../render/render.ts'
import type { Occasion, Problem } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'

/** Which errors a box shows: those with 5xx codes, or those with 1xxx codes. */
type BoxFamily = '500s' | '1000s'

/** Writes the box; empty for an error of the other family. */
export function writeBox(family: BoxFamily, refusal: Refusal, occasion: Occasion): string {
  const isOfThousands = errorRows[refusal.error].code >= 1000
  return isOfThousands === (family === '1000s') ? render(box, refusal, occasion, '') : ''
}

const box = form('text/html', renderBox)

function renderBox(
  { error_name, detail, what_you_should_do, ray_id, timestamp }: Problem,
  heading: string,
): string {
  const { code } = errorRows[error_name]
  return html`<section lang="en" dir="ltr" style="${card}">
${block('p', small, html`Error ${code}`)}
${block('h2', title, html`${heading}`)}
${block('p', textStyle, html`${detail}`)}
${block('p', textStyle, html`${emphasize(what_you_should_do)}`)}
${block('p', foot, html`Ray ID: ${ray_id}<br>Time: ${timestamp.replace('T', ' ').replace('Z', ' UTC')}`)}
</section>`.markup
}

/** Sets a colour for each colour scheme, and the light one in browsers without them. */
function scheme(property: string, light: string, dark: string): string {
  return `${property}:${light};${property}:light-dark(${light},${dark})`
}

const line = ['#dbd9d1', '#323b48'] as const
const soft = scheme('color', '#57606e', '#a4adbb')

// The styles are inline and start from a reset, so that page and box do not affect each other.
const card = `all:initial;color-scheme:light dark;display:block;box-sizing:border-box;max-width:640px;margin:24px auto;padding:20px 24px 22px;${scheme('background', '#fffefc', '#191f28')};${scheme('color', '#1b2430', '#e7eaef')};border:1px solid;${scheme('border-color', ...line)};border-radius:14px;font:16px/1.6 system-ui,sans-serif;text-align:left;overflow-wrap:anywhere`
const small = `${soft};font-size:14px;font-weight:600`
const title = 'margin:2px 0 12px;font-size:24px;font-weight:600;line-height:1.25'
const textStyle = 'margin:0 0 12px'
const foot = `margin:16px 0 0;padding-top:12px;border-top:1px solid;${scheme('border-color', ...line)};${soft};font-size:14px`

function block(tag: 'p' | 'h2', style: string, content: Html): Html {
  const name = raw(tag)
  return html`<${name} style="all:unset;display:block;${style}">${content}</${name}>`
}

function emphasize(markdown: string): readonly HtmlValue[] {
  return markdown
    .split('**')
    .map((text, i) => (i % 2 === 0 ? text : html`<b style="all:unset;font-weight:600">${text}</b>`))
}
