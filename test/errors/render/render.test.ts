import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'
import { renderMarkdown } from '../../../src/errors/render/markdown.ts'
import { form, render } from '../../../src/errors/render/render.ts'

const occasion = { ray: '8f3c1e0a9b7d2c46', zone: 'site.test', accept: null, time: 1_790_000_000_000 }

test('what is rendered once per error is never that of other words', () => {
  const markdown = form('text/markdown', renderMarkdown)
  const [heading, detail, guidance] = ['This needs a token', 'None came.', '**Do not retry.** Send one.']
  const texts = [
    { heading, detail, guidance },
    { heading, detail, guidance: '**Do not retry.** Request one.' },
    { heading, detail: 'It is missing.', guidance },
  ].map(wording => render(markdown, refuse('unauthorized', { wording }), occasion, null))
  const usual = render(markdown, refuse('unauthorized'), occasion, null)
  assert.equal(new Set([usual, ...texts]).size, 4)
  assert.match(texts[1]!, /Request one\./)
  assert.match(texts[2]!, /It is missing\./)
})
