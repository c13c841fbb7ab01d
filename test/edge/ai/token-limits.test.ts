import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Provider } from '../../../src/ai/providers/providers.ts'
import { isModelInPath, modelInPath } from '../../../src/edge/ai/token-limits.ts'
import { anyCharacter } from '../../help/any-text.ts'

const at = (name: string, path: string) =>
  modelInPath({ name, base: new URL('https://api.example/v1') } as Provider, path)

test('a path that decides the model names it, in the notation of its provider', () => {
  for (const [name, path, model] of [
    ['google-ai-studio', '/v1beta/models/gemini-3:generateContent', 'gemini-3'],
    ['google-ai-studio', '/v1beta/models/gemini-3:streamGenerateContent?alt=sse', 'gemini-3'],
    [
      'google-vertex-ai',
      '/v1/projects/p/locations/l/publishers/google/models/gemini-3:countTokens',
      'gemini-3',
    ],
    ['azure-openai', '/openai/deployments/gpt-4o/chat/completions?api-version=1', 'gpt-4o'],
    ['azure-openai', '/openai/deployments/whisper/audio/transcriptions', 'whisper'],
    [
      'aws-bedrock',
      '/model/us.anthropic.claude-haiku-4-5-v1%3A0/converse-stream',
      'us.anthropic.claude-haiku-4-5-v1:0',
    ],
    ['aws-bedrock', '/model/amazon.nova-lite-v1:0/invoke', 'amazon.nova-lite-v1:0'],
    ['openai', '/v1/realtime?model=gpt-realtime', 'gpt-realtime'],
  ] as const)
    equal(at(name, path), model, path)
})

test('any other path decides nothing', () => {
  for (const [name, path] of [
    ['custom-lab', '/v1beta/models/gemini-3:generateContent'],
    ['custom-lab', '/v1/realtime?model=gpt-realtime'],
    ['google-ai-studio', '/v1beta/models/gemini-3'],
    ['google-ai-studio', '/v1beta/models/a/models/b:generateContent'],
    ['google-ai-studio', '/v1beta/models/a%2Fb:generateContent'],
    ['azure-openai', '/openai/deployments/gpt-4o'],
    ['azure-openai', '/openai/deployments/a/deployments/b/chat/completions?x'],
    ['aws-bedrock', '/model/a/model/b/invoke'],
    ['aws-bedrock', '/model/%FF/invoke'],
    ['aws-bedrock', '/v1/messages'],
    ['openai', '/v1/realtime'],
    ['openai', '/v1/realtime?model=a&model=b'],
    ['openai', '/v1/realtime/sessions?model=a'],
    ['openai', '/v1/responses?model=a'],
    ['mistral', '/v1/realtime?model=a'],
  ] as const)
    equal(at(name, path), null, path)
})

test('a path that a provider may read as one that names the model is no path whose body does', () => {
  for (const path of [
    '/openai/deployments/gpt-4o/chat/completions?api-version=1',
    '/openai/deployments/%67pt-4o/chat/completions?api-version=1',
    '/openai/%64eployments/gpt-4o/chat/completions',
    '/openai/Deployments/gpt-4o/chat/completions',
    '/openai/deployments//gpt-4o/chat/completions',
    '/openai//deployments/gpt-4o/chat/completions',
    '/openai/deployments\\gpt-4o/chat/completions',
    '/openai/deployments;v=1/gpt-4o/chat/completions',
    '/openai/deployments%2Fgpt-4o/chat/completions',
    '/v1beta/models/gemini%2Dpro:generateContent',
    '/v1beta/models/gemini-pro%3AgenerateContent',
    '/v1beta/tunedModels/mine:generateContent',
    '/%6dodel/amazon.nova-lite-v1:0/converse',
  ])
    equal(isModelInPath(path), true, path)
  for (const path of [
    '/v1/chat/completions?x=/deployments/a/b',
    '/models/chat/completions',
    '/models/org/name/v1/chat/completions',
    '/v1//chat/completions',
    '/v1beta/openai/chat/completions',
  ])
    equal(isModelInPath(path), false, path)
})

test('any path is read without throwing', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), path => void at('openai', `/${path}`)))
  equal(at('azure-openai', `${'/a'.repeat(8_000)}/deployments/${'/a'.repeat(8_000)}!`), null)
  equal(at('aws-bedrock', `${'/model/a'.repeat(8_000)}!`), null)
})
