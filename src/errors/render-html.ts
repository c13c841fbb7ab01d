// The error record as a page for people: one file, nothing from outside, of use without script too.

import { html } from '../base/html.ts'
import type { Problem } from './problem.ts'

export function renderHtml(problem: Problem): string {
  return html`<!doctype html><html lang="en"><title>${problem.title}</title><main><h1>${problem.title}</h1><p>${problem.detail}</p><p>${problem.what_you_should_do}</p><p>${problem.ray_id} ${problem.timestamp} ${problem.zone}</p></main></html>`
    .markup
}
