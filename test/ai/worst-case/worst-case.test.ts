import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { membersOf } from '../../../src/base/json/members.ts'
import { estimatedTokens } from '../../../src/ai/usage/estimate.ts'
import { insertMaxTokens } from '../../../src/ai/worst-case/max-tokens.ts'
import { type WorstCase, worstCaseOf } from '../../../src/ai/worst-case/worst-case.ts'
import { anyUrl } from '../../help/any-text.ts'
import { thorough } from '../../help/thorough.ts'

const defaultMaxTokens = 4096

interface Sent {
  readonly provider?: string
  readonly model?: string | null
  readonly path?: string
}

const chat = { provider: 'openai', model: 'gpt-4o', path: '/v1/chat/completions' }
const local = { ...chat, provider: 'ollama', model: 'llama3.2' }
const legacy = { ...chat, path: '/v1/completions' }
const responses = { ...chat, path: '/v1/responses' }
const messages = { provider: 'anthropic', model: 'claude-haiku-4-5', path: '/v1/messages' }
const gemini = { provider: 'google-ai-studio', model: 'g', path: '/v1beta/models/g:generateContent' }
const ollama = { provider: 'ollama', model: 'llama3.2', path: '/api/chat' }
const converse = { provider: 'aws-bedrock', model: 'x', path: '/model/x/converse' }
const invoke = (model: string) => ({ provider: 'aws-bedrock', model, path: `/model/${model}/invoke` })

function worstOf(sent: Sent, body: string | object, contentType: string | null = null): WorstCase | null {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return worstCaseOf({ ...chat, ...sent, contentType, body: bytes, defaultMaxTokens, isNamedInPath: false })
}

function sentFor(sent: Sent, body: string): string {
  const { insert } = worstOf(sent, body)!
  return insert === null ? body : insertMaxTokens(Buffer.from(body), insert).toString()
}

describe('the most output of a call', () => {
  const cases = [
    [chat, '{"max_tokens":5}', 5],
    [chat, '{"max_completion_tokens":5,"max_tokens":7}', 7],
    [chat, '{"max_tokens":5,"n":3}', 15],
    [chat, '{"max_tokens":5,"n":"3"}', 15],
    [chat, '{"max_tokens":5,"n":2.5}', 15],
    [chat, '{"max_tokens":5,"n":4,"n":2}', 20],
    [chat, '{"max_tokens":5,"n":-4}', 5],
    [chat, '{"max_tokens":5,"n":null}', 5],
    [chat, '{"max_tokens":5,"prediction":{"content":"12345"}}', 5 + 10],
    [chat, '{}', 4096],
    [chat, '{"n":2}', 8192],
    [legacy, '{"prompt":"a"}', 16],
    [legacy, '{"prompt":["a","b"],"n":2,"best_of":3}', 16 * 3 * 2],
    [legacy, '{"prompt":[1,2,3],"max_tokens":2}', 2],
    [legacy, '{"prompt":[[1,2],[3]],"max_tokens":2}', 4],
    [legacy, '{"max_tokens":0}', 0],
    [{ ...legacy, provider: 'openrouter' }, '{"prompt":"a"}', 4096],
    [responses, '{"max_output_tokens":20}', 20],
    [messages, '{"max_tokens":20,"thinking":{"type":"enabled","budget_tokens":10}}', 20],
    [messages, '{"max_tokens":0}', 0],
    [gemini, '{"generationConfig":{"maxOutputTokens":20,"candidateCount":3}}', 60],
    [gemini, '{"generation_config":{"max_output_tokens":20,"candidate_count":3}}', 60],
    [gemini, '{"generationConfig":{"maxOutputTokens":20},"generation_config":{"max_output_tokens":30}}', 30],
    [ollama, '{"options":{"num_predict":20}}', 20],
    [ollama, '{"Options":{"NUM_PREDICT":50},"options":{"num_predict":20}}', 50],
    [{ ...ollama, path: '/api/generate' }, '{"options":{"num_predict":20}}', 20],
    [converse, '{"inferenceConfig":{"maxTokens":20}}', 20],
    [converse, '{"inferenceConfig":{"maxTokens":20},"additionalModelRequestFields":{"max_tokens":90}}', 90],
    [invoke('anthropic.claude-3-haiku-20240307-v1:0'), '{"max_tokens":20}', 20],
    [invoke('us.amazon.nova-pro-v1:0'), '{"inferenceConfig":{"max_new_tokens":20}}', 20],
    [invoke('amazon.titan-text-express-v1'), '{"textGenerationConfig":{"maxTokenCount":20}}', 20],
    [invoke('meta.llama3-8b-instruct-v1:0'), '{"max_gen_len":20}', 20],
    [invoke('cohere.command-r-v1:0'), '{"max_tokens":20,"num_generations":2}', 40],
    [invoke('amazon.titan-embed-text-v2:0'), '{"inputText":"a"}', 0],
    [{ ...chat, path: '/v1/embeddings' }, '{"input":"a"}', 0],
    [{ ...chat, path: '/v1/moderations' }, '{"input":"a"}', 0],
    [{ ...chat, path: '/v1/images/generations' }, '{"prompt":"a","n":3}', 3 * 6600],
  ] as const
  for (const [sent, body, tokens] of cases) {
    test(`is ${tokens} of ${sent.path} ${body}`, () => {
      equal(worstOf(sent, body)!.tokensOut, tokens)
    })
  }

  test('stays a safe integer', () => {
    const { tokensOut, tokensIn } = worstOf(chat, `{"max_tokens":${Number.MAX_SAFE_INTEGER},"n":1e308}`)!
    ok(Number.isSafeInteger(tokensOut + tokensIn))
    ok(tokensOut > 1e15)
  })
})

describe('the limit that is sent', () => {
  const cases = [
    [chat, '{"model":"a"}', '{"max_completion_tokens":4096,"model":"a"}'],
    [chat, ' { } ', ' {"max_completion_tokens":4096 } '],
    [chat, '{"max_tokens":5}', '{"max_tokens":5}'],
    [chat, '{"max_tokens":null}', '{"max_completion_tokens":4096,"max_tokens":null}'],
    [chat, '{"max_completion_tokens":null}', '{"max_completion_tokens":4096}'],
    [chat, '{"max_tokens":null,"max_completion_tokens":9}', '{"max_tokens":null,"max_completion_tokens":9}'],
    [{ ...chat, provider: 'azure-openai', model: 'mine' }, '{}', '{"max_completion_tokens":4096}'],
    [{ ...chat, provider: 'custom-a', model: 'gpt-5-mini' }, '{}', '{"max_completion_tokens":4096}'],
    [
      { ...chat, provider: 'groq', model: 'llama' },
      '{"max_completion_tokens":5}',
      '{"max_completion_tokens":5}',
    ],
    [local, '{"model":"a"}', '{"max_tokens":4096,"model":"a"}'],
    [local, '{"max_completion_tokens":7}', '{"max_tokens":7,"max_completion_tokens":7}'],
    [local, '{"MAX_TOKENS":7}', '{"max_tokens":7,"MAX_TOKENS":7}'],
    [local, '{"max_tokens":5,"MAX_TOKENS":-1}', '{"max_tokens":5,"MAX_TOKENS":5}'],
    [local, '{"max_tokens":5,"max_to\u212aen\u017f":null}', '{"max_tokens":5,"max_to\u212aen\u017f":5}'],
    [local, '{"max_tokens":5,"max_tokens":null}', '{"max_tokens":5,"max_tokens":5}'],
    [local, '{"m\\u0061x_tokens":null}', '{"m\\u0061x_tokens":4096}'],
    ...['-1', '0', '"5"', '1e308', '2.5', '[]', '{}', 'true', 'null', '9007199254740993', '-0'].map(
      value => [local, `{"max_tokens": ${value} }`, '{"max_tokens": 4096 }'] as const,
    ),
    [messages, '{"max_tokens":-1}', '{"max_tokens":4096}'],
    [responses, '{}', '{"max_output_tokens":4096}'],
    [gemini, '{}', '{"generationConfig":{"maxOutputTokens":4096}}'],
    [gemini, '{"contents":[]}', '{"generationConfig":{"maxOutputTokens":4096},"contents":[]}'],
    [gemini, '{"generationConfig":{}}', '{"generationConfig":{"maxOutputTokens":4096}}'],
    [gemini, '{"generation_config":{"topK":1}}', '{"generation_config":{"maxOutputTokens":4096,"topK":1}}'],
    [gemini, '{"generationConfig":null}', '{"generationConfig":{"maxOutputTokens":4096}}'],
    [
      gemini,
      '{"generationConfig":{"maxOutputTokens":5},"generation_config":{}}',
      '{"generationConfig":{"maxOutputTokens":5},"generation_config":{"maxOutputTokens":5}}',
    ],
    [
      gemini,
      '{"generationConfig":{"maxOutputTokens":5,"max_output_tokens":null}}',
      '{"generationConfig":{"maxOutputTokens":5,"max_output_tokens":5}}',
    ],
    [ollama, '{"options":{"num_predict":-1}}', '{"options":{"num_predict":4096}}'],
    [ollama, '{"Options":{}}', '{"options":{"num_predict":4096},"Options":{"num_predict":4096}}'],
    [converse, '{"messages":[]}', '{"inferenceConfig":{"maxTokens":4096},"messages":[]}'],
    [legacy, '{"prompt":"a"}', '{"prompt":"a"}'],
    [legacy, '{"max_tokens":null}', '{"max_tokens":4096}'],
  ] as const
  for (const [sent, body, expected] of cases) {
    test(`makes ${expected} of ${body} for ${sent.provider} ${sent.path}`, () => {
      equal(sentFor(sent, body), expected)
    })
  }
})

describe('the most input of a call', () => {
  const inputOf = (sent: Sent, body: string | object) => worstOf(sent, body)!.tokensIn
  const user = (...content: readonly object[]) => ({ max_tokens: 5, messages: [{ role: 'user', content }] })

  test('is half of its bytes, and what providers add', () => {
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(10_000) }] })
    equal(inputOf(chat, body), Math.ceil(body.length / 2) + 100)
    const withTool = `{"tools":[{"type":"function"}],${body.slice(1)}`
    equal(inputOf(chat, withTool), Math.ceil(withTool.length / 2) + 1000)
  })

  const image = 'A'.repeat(100_000)
  const images = [
    [chat, { type: 'image_url', image_url: { url: 'https://host.example/a.png' } }],
    [chat, { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }],
    [chat, { type: 'image_url', image_url: 'https://host.example/a.png' }],
    [messages, { type: 'image', source: { type: 'url', url: 'https://host.example/a.png' } }],
    [messages, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }],
    [messages, { type: 'image', source: { type: 'file', file_id: 'file_1' } }],
    [responses, { type: 'input_image', image_url: `data:image/png;base64,${image}` }],
    [responses, { type: 'input_image', file_id: 'file-1' }],
    [gemini, { inlineData: { mimeType: 'image/png', data: image } }],
    [gemini, { inline_data: { mime_type: 'image/png', data: image } }],
    [converse, { image: { format: 'png', source: { bytes: image } } }],
    [converse, { image: { format: 'png', source: { s3Location: { uri: 's3://a/b' } } } }],
  ] as const
  for (const [sent, part] of images) {
    test(`has a bound for an image: ${sent.path} ${JSON.stringify(part).slice(0, 100)}`, () => {
      const input = inputOf(sent, user(part))
      ok(input >= 5000 && input < 5400, `${input}`)
      ok(inputOf(sent, user(part, part)) >= 10_000)
    })
  }

  test('has the bound of images in a list, and a higher one for a model that counts them high', () => {
    const content = { messages: [{ role: 'user', content: 'a', images: [image, image] }] }
    const input = inputOf(ollama, content)
    ok(input >= 10_000 && input < 10_200, `${input}`)
    const part = { type: 'image_url', image_url: { url: 'https://host.example/a.png' } }
    ok(inputOf({ ...chat, model: 'gpt-4o-mini' }, user(part)) > 48_169)
  })

  const files = [
    [chat, { type: 'file', file: { file_id: 'file-1' } }],
    [chat, { type: 'file', file: { file_data: 'https://host.example/a.pdf' } }],
    [responses, { type: 'input_file', file_url: 'https://host.example/a.pdf' }],
    [messages, { type: 'document', source: { type: 'url', url: 'https://host.example/a.pdf' } }],
    [messages, { type: 'docum\\u0065nt', source: { type: 'url', url: 'https://host.example/a.pdf' } }],
    [gemini, { fileData: { fileUri: 'https://host.example/v1beta/files/1' } }],
    [converse, { document: { source: { s3Location: { uri: 's3://a/b' } } } }],
  ] as const
  for (const [sent, part] of files) {
    test(`is the largest context for a file by its address: ${JSON.stringify(part)}`, () => {
      ok(inputOf(sent, JSON.stringify(user(part)).replaceAll('\\\\u', '\\u')) >= 1_000_000)
    })
  }

  test('follows the size of a file, and of sound, which may have a price of its own', () => {
    const file = user({ type: 'file', file: { file_data: `data:application/pdf;base64,${image}` } })
    const ofFile = inputOf(chat, file)
    ok(ofFile >= 50_000 && ofFile < 60_000, `${ofFile}`)
    const sound = user({ type: 'input_audio', input_audio: { data: image, format: 'wav' } })
    const worst = worstOf(chat, sound)!
    ok(worst.tokensIn >= 100_000 / 16 && worst.tokensIn < 15_000, `${worst.tokensIn}`)
    ok(worst.audioIn > 6000 && worst.audioIn <= worst.tokensIn)
    equal(worstOf(chat, file)!.audioIn, 0)
  })

  test('counts an image in a duplicate that JSON.parse does not see', () => {
    const part = '[{"type":"image_url","image_url":{"url":"https://host.example/a.png"}}]'
    ok(inputOf(chat, `{"messages":[{"role":"user","content":${part},"content":"a"}]}`) > 5000)
    ok(inputOf(chat, `{"messages":${part},"messages":[]}`) > 5000)
    ok(inputOf(chat, `{"messages":${part.replace('image_url', 'im\\u0061ge_url')}}`) > 5000)
  })

  test('takes no argument, schema or citation for an image', () => {
    const url = { url: 'https://host.example/', image_url: 'https://host.example/' }
    const input = inputOf(messages, {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'fetch', input: url }] },
        { role: 'user', content: [{ type: 'text', text: 'a', citations: [url] }] },
      ],
      tools: [{ name: 'fetch', input_schema: { properties: { image_url: { type: 'string' } } } }],
    })
    ok(input < 1500, `${input}`)
  })

  const long = 'lorem ipsum '.repeat(10_000)
  const texts = [
    [converse, user({ toolResult: { toolUseId: 't', content: [{ json: { image_url: long } }] } })],
    [invoke('cohere.command-r-v1:0'), { message: 'a', documents: [{ image: long }] }],
    [gemini, { contents: [{ parts: [{ inlineData: { mimeType: 'text/plain', data: long } }] }] }],
  ] as const
  for (const [sent, body] of texts) {
    test(`has all text, whatever its member is called: ${JSON.stringify(body).slice(0, 100)}`, () => {
      ok(inputOf(sent, body) >= long.length / 2)
      ok(inputOf(sent, JSON.stringify(body).replaceAll('/', '\\/')) >= long.length / 2)
    })
  }

  const elsewhere = [
    [responses, '{"previous_response_id":"resp_1","input":"a"}'],
    [responses, '{"conversation":{"id":"conv_1"},"input":"a"}'],
    [responses, '{"prompt":{"id":"pmpt_1"}}'],
    [responses, '{"input":[{"type":"item_reference","id":"msg_1"}]}'],
    [responses, '{"input":[{"type":"item\\u005freference","id":"msg_1"}]}'],
    [responses, '{"input":[{"role":"user","content":"a"},{"id":"msg_1"}]}'],
    [responses, '{"input":[{"\\u0069d":"msg_1","type":null}]}'],
    [responses, '{"input":[{"type":"reasoning","id":"rs_1","summary":[]}]}'],
    [responses, '{"input":[{"type":"message","role":"assistant","id":"msg_1","content":null}]}'],
    [responses, '{"input":[{"type":"image_generation_call","id":"ig_1","result":null}]}'],
    [gemini, '{"cachedContent":"cachedContents/1"}'],
    [gemini, '{"cached_content":"cachedContents/1"}'],
  ] as const
  for (const [sent, body] of elsewhere) {
    test(`has room for what only the provider has: ${body}`, () => {
      ok(inputOf(sent, body) >= 200_000)
    })
  }

  test('has no such room for what is null, or text', () => {
    ok(inputOf(responses, '{"previous_response_id":null,"conversation":null,"input":"item_reference"}') < 200)
    ok(inputOf(responses, '{"input":[{"type":"message","id":"msg_1","content":"a"}]}') < 200)
    ok(inputOf(responses, '{"input":[{"type":"reasoning","id":"rs_1","encrypted_content":"a"}]}') < 200)
    ok(inputOf(responses, '{"input":[{"type":"function_call","id":"fc_1","arguments":"{}"}]}') < 200)
    ok(inputOf(responses, '{"input":[{"type":"function_call_output","call_id":"c","output":"1"}]}') < 200)
    ok(inputOf(responses, '{"input":[{"content":"caf\\u00e9 standardizable"}]}') < 200)
    ok(inputOf(legacy, '{"prompt":"a"}') < 200)
  })

  test('counts twice where the model may summarize it first', () => {
    const edits = (type: string) => ({ edits: [{ type }] })
    const reading = (management: object) =>
      worstOf(messages, { max_tokens: 9, context_management: management })!
    const plain = reading(edits('clear_tool_uses_20250919'))
    const compacting = reading(edits('compact_20260112'))
    deepEqual([plain.tokensOut, compacting.tokensOut, compacting.limit], [9, 18, 9])
    ok(compacting.tokensIn > 1.5 * plain.tokensIn)
    equal(worstOf(messages, { max_tokens: 9, compaction: { type: 'x' } })!.tokensOut, 18)
    equal(worstOf(messages, { max_tokens: 9, compaction: null })!.tokensOut, 9)
  })

  test('of lists of token ids is their number', () => {
    const embeddings = { ...chat, path: '/v1/embeddings' }
    const ids = JSON.stringify({ input: Array.from({ length: 1000 }, (_, i) => [100_000 + i]) })
    equal(inputOf(embeddings, ids), 1000 + Math.ceil(ids.length / 2) - Math.ceil((ids.length - 10) / 2))
    const mixed = JSON.stringify({ input: [1, 'x'.repeat(1000)] })
    equal(inputOf(embeddings, mixed), Math.ceil(mixed.length / 2))
  })

  test('grows with each use of a tool that the provider runs', () => {
    const withTool = (more: object) => worstOf(messages, { max_tokens: 10, tools: [more] })!
    equal(withTool({ type: 'custom', name: 'a' }).searches, 0)
    equal(withTool({ type: 'web_search_20250305', max_uses: 3 }).searches, 3)
    equal(withTool({ type: 'web_search_20250305' }).searches, 10)
    ok(withTool({ type: 'web_search_20250305', max_uses: 3 }).tokensIn >= 60_000)
    equal(withTool({ type: 'code_execution_20250825' }).searches, 0)
    ok(withTool({ type: 'code_execution_20250825' }).tokensIn >= 550_000)
    equal(worstOf(gemini, { tools: [{ google_search: {} }] })!.searches, 10)
    equal(worstOf(responses, { tools: [{ type: 'web_search' }], max_tool_calls: 2 })!.searches, 2)
    equal(worstOf(chat, { web_search_options: {} })!.searches, 1)
  })

  test('is capped only by a number of uses that its API reads', () => {
    const tool = '{"type":"web_search_20250305","name":"web_search"'
    const searches = (sent: Sent, body: string) => worstOf(sent, body)!.searches
    const uses = (sent: Sent, more: string) => searches(sent, `{"tools":[${tool},${more}}]}`)
    const calls = (sent: Sent, more: string) => searches(sent, `{"tools":[${tool}}],${more}}`)
    const [azure, xai] = ['azure-openai', 'grok'].map(provider => ({ ...responses, provider }))
    const claude = invoke('anthropic.claude-haiku-4-5')
    const rest = { ...messages, provider: 'openrouter' }
    for (const sent of [messages, claude]) equal(uses(sent, '"max_uses":1'), 1)
    for (const sent of [responses, azure!]) equal(calls(sent, '"max_tool_calls":1'), 1)
    for (const sent of [chat, responses, gemini, converse, rest]) equal(uses(sent, '"max_uses":1'), 10)
    for (const sent of [chat, messages, gemini, xai!]) equal(calls(sent, '"max_tool_calls":1'), 10)
    for (const odd of ['"Max_Uses":1', '"max_uses":1,"max_uses":null', '"max_uses":1,"max_uses":"1"'])
      equal(uses(messages, odd), 10, odd)
    equal(uses(messages, '"max_uses":30'), 30)
    equal(calls(responses, `${'"max_tool_calls":1,'.repeat(1_000)}"max_tool_calls":9`), 9)
  })
})

describe('what decides the price of a call', () => {
  test('is the tier, unless that is ambiguous', () => {
    equal(worstOf(chat, '{"service_tier":"flex"}')!.tier, 'flex')
    equal(worstOf(chat, '{}')!.tier, null)
    equal(worstOf(chat, '{"service_tier":"flex","service_tier":"priority"}')!.tier, null)
    equal(worstOf(chat, '{"service_tier":7}')!.tier, null)
    equal(worstOf(messages, '{"speed":"standard","inference_geo":null,"service_tier":"auto"}')!.tier, 'auto')
    equal(worstOf(messages, '{"speed":"fast","service_tier":"auto"}')!.tier, 'speed:fast')
    equal(worstOf(messages, '{"inference_geo":"us"}')!.tier, 'geo:us')
    equal(
      worstOf(messages, '{"speed":"f\\u0061st","speed":"standard","Inference_Geo":7}')!.tier,
      'speed:fast geo:us',
    )
    equal(worstOf(chat, '{"Service_tier":"flex"}')!.tier, null)
  })

  test('is whether it may write to a cache', () => {
    const part = (cache: object) => ({ messages: [{ content: [{ type: 'text', cache_control: cache }] }] })
    equal(worstOf(messages, '{}')!.cacheWrites, 'none')
    equal(worstOf(chat, '{}')!.cacheWrites, 'short')
    equal(worstOf(messages, part({ type: 'ephemeral' }))!.cacheWrites, 'short')
    equal(worstOf(messages, part({ type: 'ephemeral', ttl: '1h' }))!.cacheWrites, 'long')
    equal(worstOf(messages, { tools: [{ name: 'a', cache_control: {} }] })!.cacheWrites, 'short')
  })

  test('is whether it may speak', () => {
    equal(worstOf(chat, '{"modalities":["text","audio"],"max_tokens":9}')!.audioOut, 9)
    equal(worstOf(chat, '{"modalities":["text"],"max_tokens":9}')!.audioOut, 0)
    const spoken = { generationConfig: { maxOutputTokens: 9, responseModalities: ['AUDIO'] } }
    equal(worstOf(gemini, spoken)!.audioOut, 9)
  })
})

describe('a form', () => {
  const form = (...parts: readonly string[]) =>
    `${parts.map(part => `--b\r\nContent-Disposition: form-data; ${part}\r\n`).join('')}--b--`
  const type = 'multipart/form-data; boundary=b'

  test('of sound is counted by its size', () => {
    const body = form(
      'name="file"; filename="a.mp3"\r\n\r\n'.padEnd(160_000, 'x'),
      'name="model"\r\n\r\nwhisper-1',
    )
    const worst = worstOf({ ...chat, path: '/v1/audio/transcriptions' }, body, type)!
    ok(worst.audioIn >= 10_000 && worst.tokensIn >= worst.audioIn && worst.tokensOut > 2500)
    equal(worst.insert, null)
  })

  test('of sound that the provider fetches, or has, has room for a long one', () => {
    for (const name of ['url', 'file_url', 'File_Id']) {
      const body = form(`name="${name}"\r\n\r\nx`, 'name="model"\r\n\r\nvoxtral')
      const worst = worstOf({ ...chat, path: '/v1/audio/transcriptions' }, body, type)!
      deepEqual([worst.audioIn, worst.tokensOut], [1_000_000, 251_000])
    }
    const both = form('name="file"; filename="a.mp3"\r\n\r\nx', 'name="url"\r\n\r\nx')
    equal(worstOf({ ...chat, path: '/v1/audio/transcriptions' }, both, type)!.audioIn, 1_000_000)
  })

  test('of images is counted by its files, and the images that it wants', () => {
    const body = form(
      'name="image"; filename="a.png"\r\n\r\nx',
      'name="n"\r\n\r\n4',
      'name="prompt"\r\n\r\nx',
    )
    const worst = worstOf({ ...chat, path: '/v1/images/edits' }, body, type)!
    deepEqual([worst.tokensIn, worst.tokensOut], [8001, 4 * 6600])
  })
})

describe('the models of a call', () => {
  const modelOf = (body: string) => worstOf({ ...chat, model: null }, body)!.model
  const others = (sent: Sent, body: string) => worstOf(sent, body)!.otherModels

  test('begin with the one that the body names once, and plainly', () => {
    equal(modelOf('{"model":"gpt-4o"}'), 'gpt-4o')
    equal(modelOf('{"m\\u006fdel":"gpt\\u002d4o"}'), 'gpt-4o')
    for (const body of ['{"model":7}', '{"model":""}', '{"Model":"a"}', '{"model":"a","model":"a"}', '{}'])
      equal(modelOf(body), null, body)
    equal(modelOf('{"model":"a","MODEL":"b"}'), null)
    equal(modelOf(JSON.stringify({ model: 'x'.repeat(2000) })), null)
  })

  test('are all that it names, where it names more than one', () => {
    const unknown = { ...chat, model: null }
    deepEqual(others(unknown, '{"model":"a","MODEL":"b","model":7}'), ['a', 'b', null])
    deepEqual(others(unknown, '{"Model":"a"}'), ['a'])
    deepEqual(others(unknown, '{"model":"a"}'), [])
    deepEqual(others(chat, '{"model":"a","Model":"b"}'), [])
  })

  test('are not in the body where the path names one', () => {
    const body = Buffer.from('{"model":"gpt-4o"}')
    const call = { ...chat, contentType: null, body, defaultMaxTokens }
    equal(worstCaseOf({ ...call, model: null, isNamedInPath: true })!.model, null)
    equal(worstCaseOf({ ...call, model: 'a', isNamedInPath: true })!.model, 'a')
  })

  test('are all that the provider may choose', () => {
    const router = { ...chat, provider: 'openrouter' }
    deepEqual(others(router, '{}'), [])
    deepEqual(others(router, '{"models":["a","b"],"fallbacks":[{"model":"c"}],"models":["d"]}'), [
      'a',
      'b',
      'c',
      'd',
    ])
    deepEqual(others(router, '{"Models":"a","fallback_models":[7,null]}'), ['a', null, null])
    deepEqual(others(router, '{"models":null,"tools":[{"type":"function","model":"e"}]}'), ['e'])
    deepEqual(others(router, '{"providerOptions":{"gateway":{"models":["f"]}}}'), ['f'])
    deepEqual(others(router, '{"models":["a\u0001"]}'), [null])
  })
})

describe('a request', () => {
  const sound = ['{"a":[],"b":{}}', ' {"a" : [ 1 , {"b" : null } ] }\r\n\t', '{"a":"\\"{","b":-1.5e+7}']
  const odd = [
    ['{"a":1,}', '{,"a":1}', '{"a":1 "b":2}', '{"a" 1}', '{"a":}', "{'a':1}", '{a:1}'],
    ['{"a":[1,]}', '{"a":[,1]}', '{"a":[1 2]}', '{"a":[1}', '{"a":{]}', '{"a":[}', '{"a":1]'],
    ['{"a":1}{}', '{"a":1}x', '{"a":1}}', '{/**/"a":1}', '{"a":1//\n}', '{"a":NaN(1)}', '\ufeff{"a":1}'],
    ['{"a":"', '{"a', '{"a":"\\"', '{"a":[[', '{', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`],
  ].flat()
  for (const body of sound)
    test(`is read: ${body}`, () => {
      ok(worstOf(chat, body) !== null)
    })
  for (const body of odd)
    test(`is not bounded, as its reader may find other members: ${body.slice(0, 40)}`, () => {
      equal(worstOf(chat, body), null)
    })

  test('is not bounded in another charset', () => {
    equal(worstOf(chat, '{}', 'application/json; charset=shift_jis'), null)
    equal(worstOf(chat, '{}', 'text/plain'), null)
    ok(worstOf(chat, '{}', 'application/json; charset=utf-8') !== null)
    const bytes = Buffer.from([0x7b, 0x22, 0x83, 0x5c, 0x22, 0x3a, 0x31, 0x7d])
    equal(
      worstCaseOf({ ...chat, contentType: null, body: bytes, defaultMaxTokens, isNamedInPath: false }),
      null,
    )
  })

  test('has the members that each reader of JSON finds, or is not bounded', () => {
    const spaces = fc.constantFrom('', ' ', '\n\t')
    const edits = fc.tuple(fc.json({ maxDepth: 5 }), spaces, fc.nat(60), fc.constantFrom(...'{}[],:"\\ 1x'))
    fc.assert(
      fc.property(edits, ([json, space, at, more]) => {
        const whole = `${space}{"a":${json}}${space}`
        ok(worstOf(chat, whole) !== null)
        const edited = whole.slice(0, at) + more + whole.slice(at)
        if (worstOf(chat, edited) === null) throws(() => JSON.parse(edited), edited)
        else JSON.parse(edited.replace(/"(?:[^"\\]|\\.)*"/gs, '""').replace(/[\w.+-]+/g, '0'))
      }),
      { numRuns: thorough(2000, 500) },
    )
  })
})

describe('a call without a bound', () => {
  const cases = [
    [{ path: '/v1/batches' }, '{}'],
    [{ path: '/v1/messages;/messages/count_tokens' }, '{}'],
    [{ path: '/v1/messages%3b/messages/count_tokens' }, '{}'],
    [{ path: '/v1/responses%3F/embeddings' }, '{}'],
    [{ path: '/v1/responses%253F/embeddings' }, '{}'],
    [{ path: '/v1/responses%00/chat/completions' }, '{}'],
    [{ path: '/v1/fine_tuning/jobs' }, '{}'],
    [{ path: '/v1/messages/batches' }, '{}'],
    [{ path: '/v1/chat/completions/' }, '{}'],
    [{ path: '/v1/chat/%63ompletions' }, '{}'],
    [{ path: '/generations' }, '{}'],
    [invoke('arn:aws:bedrock:us-east-1:1:application-inference-profile/a'), '{}'],
    [chat, '[]'],
    [chat, '{"a":1'],
    [chat, ''],
    [chat, '\u001f\u008b'],
    [converse, '{"additionalModelRequestFields":{"max_tokens":"5"}}'],
  ] as const
  for (const [sent, body] of cases) {
    test(`is known as such: ${sent.path} ${JSON.stringify(body)}`, () => {
      equal(worstOf(sent, body), null)
    })
  }

  test('is none that only counts tokens', () => {
    for (const path of [
      '/v1/messages/count_tokens',
      '/v1beta/models/g:countTokens',
      '/v1/responses/input_tokens',
    ])
      deepEqual([worstOf({ path }, '{}')!.tokensIn, worstOf({ path }, '{}')!.tokensOut], [0, 0])
  })
})

/** Amounts that the store can add up. */
const largest = Math.floor(Number.MAX_SAFE_INTEGER / 4)

/** How a provider may read a member of the request: of duplicates the last or the first, in any case or not. */
type Reader = (json: Buffer, name: string) => unknown

const pick = (isLast: boolean, fits: (one: string, other: string) => boolean): Reader => {
  return (json, wanted) => {
    const members = membersOf(json).filter(({ name }) => fits(name, wanted))
    const member = isLast ? members.at(-1) : members[0]
    return member === undefined ? undefined : JSON.parse(json.toString('utf8', member.start, member.end))
  }
}
const same = (one: string, other: string) => one === other
const alike = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
const readers = [pick(true, same), pick(false, same), pick(true, alike), pick(false, alike)]

const anyValue = fc.oneof(
  fc.constantFrom(
    'null',
    '-1',
    '0',
    '1',
    '5',
    '100',
    '1e308',
    '1e3',
    '"7"',
    '""',
    '[]',
    '{}',
    'true',
    '2.5',
    '-0',
  ),
  fc.nat(100_000).map(String),
)

function anyObject(names: readonly string[], value: fc.Arbitrary<string> = anyValue): fc.Arbitrary<string> {
  const spelled = fc
    .constantFrom(...names)
    .chain(name =>
      fc.constantFrom(
        name,
        name.toUpperCase(),
        `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`,
      ),
    )
  const member = fc.tuple(spelled, value).map(([name, text]) => `"${name}":${text}`)
  return fc.array(member, { maxLength: 5 }).map(members => `{${members.join(',')}}`)
}

describe('however a provider reads a request', () => {
  const dialects = [
    [local, null, ['max_tokens', 'model']],
    [messages, null, ['max_tokens', 'model']],
    [responses, null, ['max_output_tokens', 'model']],
    [ollama, 'options', ['num_predict', 'top_k']],
    [converse, 'inferenceConfig', ['maxTokens', 'topP']],
  ] as const
  for (const [sent, within, [name, other]] of dialects) {
    test(`its limit is no higher than the worst case: ${sent.path}`, () => {
      const flat = anyObject([name, other])
      const body = within === null ? flat : anyObject([within, other], fc.oneof(flat, anyValue))
      fc.assert(
        fc.property(body, json => {
          const { tokensOut } = worstOf(sent, json)!
          const bytes = Buffer.from(sentFor(sent, json))
          JSON.parse(bytes.toString())
          for (const read of readers) {
            const object = within === null ? bytes : Buffer.from(JSON.stringify(read(bytes, within)))
            const limit = within === null ? read(bytes, name) : read(object, name)
            ok(typeof limit === 'number' && limit >= 0 && limit <= tokensOut, `${bytes}: ${limit}`)
          }
        }),
        { numRuns: thorough(500, 150) },
      )
    })
  }

  test('its limit is no higher where the reader has two names for it', () => {
    fc.assert(
      fc.property(anyObject(['max_tokens', 'max_completion_tokens', 'n']), json => {
        const { tokensOut } = worstOf(chat, json)!
        const bytes = Buffer.from(sentFor(chat, json))
        for (const read of readers) {
          const limit = read(bytes, 'max_completion_tokens') ?? read(bytes, 'max_tokens')
          const n = read(bytes, 'n')
          const times = typeof n === 'number' ? Math.max(n, 1) : 1
          ok(typeof limit === 'number' && Math.min(limit * times, largest) <= tokensOut)
        }
      }),
      { numRuns: thorough(1000, 300) },
    )
  })

  const text = fc.string({ unit: 'grapheme', maxLength: 200 })
  const part = fc.oneof(
    text.map(text => ({ type: 'text', text })),
    anyUrl.map(url => ({ type: 'image_url', image_url: { url } })),
    fc.base64String({ maxLength: 500 }).map(data => ({ type: 'image', source: { type: 'base64', data } })),
    fc.base64String({ maxLength: 500 }).map(data => ({ type: 'document', source: { type: 'base64', data } })),
    fc.base64String({ maxLength: 500 }).map(data => ({ type: 'input_audio', input_audio: { data } })),
  )
  const content = fc.oneof(text, fc.array(part, { maxLength: 4 }))
  const conversation = fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content }))

  test('its input is no larger than the worst case', () => {
    fc.assert(
      fc.property(conversation, fc.constantFrom(0, 1), (messages, space) => {
        const request = { messages, max_tokens: 1 }
        ok(worstOf(chat, JSON.stringify(request, null, space))!.tokensIn >= estimatedTokens(request))
      }),
    )
  })

  test('nothing is thrown for any bytes', () => {
    const paths = [chat, gemini, ollama, converse, legacy, { ...chat, path: '/v1/embeddings' }]
    const json = fc.json({ maxDepth: 6 })
    const broken = fc.tuple(json, fc.nat(200)).map(([text, at]) => text.slice(0, at))
    const likely = fc.tuple(
      anyObject(['tools', 'max_tokens', 'generationConfig', 'n', 'prompt'], json),
      fc.nat(200),
    )
    const cut = likely.map(([text, at]) => text.slice(0, at))
    const any = fc.oneof(json, broken, cut, fc.string()).map(text => Buffer.from(text))
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        fc.oneof(any, fc.uint8Array().map(Buffer.from)),
        (sent, body) => {
          const call = { ...sent, contentType: null, body, defaultMaxTokens, isNamedInPath: false }
          const worst = worstCaseOf(call)
          if (worst === null) return
          ok(Number.isSafeInteger(worst.tokensIn + worst.tokensOut) && worst.tokensIn >= 0)
          if (worst.insert !== null) insertMaxTokens(body, worst.insert)
        },
      ),
      { numRuns: thorough(2000, 500) },
    )
  })
})
