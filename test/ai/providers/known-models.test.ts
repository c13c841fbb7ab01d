import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { providerNames } from '../../../src/config/model/config.ts'
import { hasKnownModel } from '../../../src/ai/providers/known-models.ts'

const makers = [
  ['gpt-5.1-codex-max', 'openai'],
  ['o4-mini-2025-04-16', 'openai'],
  ['whisper-1', 'openai'],
  ['claude-opus-5-5', 'anthropic google-vertex-ai'],
  ['gemini-3-pro', 'google-ai-studio google-vertex-ai'],
  ['mistral-large-latest', 'mistral'],
  ['deepseek-chat', 'deepseek'],
  ['llama-3.3-70b-versatile', 'groq'],
  ['gpt-oss-120b', ''],
  ['ollama', ''],
  ['', ''],
] as const

for (const [model, names] of makers)
  test(`${model || 'no name'} is a model of ${names || 'no provider in particular'}`, () => {
    equal(providerNames.filter(name => hasKnownModel(name, model)).join(' '), names)
  })
