// Measures what it costs to plan a REST call of 300 bytes, 30 KB or 300 KB, in ns: node bench/micro/ai/plan.ts
import { planCall, readCall } from '../../../src/ai/plan.ts'
import type { CallRequest } from '../../../src/ai/request-body.ts'
import { Providers } from '../../../src/ai/providers/providers.ts'
import { parseAiTarget, type RestTarget } from '../../../src/ai/target.ts'
import { chatBody } from '../../load/chat.ts'
import { medianOf } from '../median.ts'

const target = parseAiTarget(`/client/v4/accounts/${'0'.repeat(32)}/ai/v1/chat/completions`) as RestTarget
const providers = new Providers({ providers: [] })

for (const [name, body, calls] of [
  ['300 bytes', chatBody('openai/gpt-4o-mini', null), 50_000],
  ['30 KB in 100 messages', conversation(100), 2_000],
  ['300 KB in 1,000 messages', conversation(1_000), 200],
  ['a 300 KB image', picture(300_000), 2_000],
] as const) {
  const bytes = Buffer.from(body)
  const ns = medianOf(calls, () => {
    const call = planCall(target, readCall(target, bytes) as CallRequest, providers)
    if ('error' in call) throw new Error('the call was refused')
  })
  console.log(`${name.padEnd(26)} ${ns.toFixed(0).padStart(8)} ns`)
}

function conversation(messages: number): string {
  const text = 'As she said: "a word or two". '.repeat(8)
  const all = Array.from({ length: messages }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: text,
  }))
  return JSON.stringify({ model: 'openai/gpt-4o-mini', messages: all })
}

function picture(bytes: number): string {
  const url = `data:image/png;base64,${'A'.repeat(bytes)}`
  const content = [{ type: 'image_url', image_url: { url } }]
  return JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] })
}
