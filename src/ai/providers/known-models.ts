// Which provider makes a model, by its name: for calls and hints that name no provider.

import type { ProviderName } from '../../config/model/config.ts'
import { priceRows } from '../usage/price-rows.ts'

/** By the beginning of the name. Models that several providers host are known by their prices alone. */
const families: Readonly<Partial<Record<ProviderName, RegExp>>> = {
  openai:
    /^(?:(?:gpt|chatgpt|codex|text-embedding|dall-e|whisper|tts|omni-moderation|text-moderation|computer-use|sora)-|o[1-9](?:-|$)|(?:davinci|babbage)-002$)/,
  anthropic: /^claude-/,
  'google-ai-studio': /^(?:gemini|imagen|veo|learnlm)-/,
  'google-vertex-ai': /^(?:gemini|claude)-/,
  'aws-bedrock': /^(?:(?:[a-z-]+\.)?anthropic\.claude|openai\.gpt)-/,
  mistral: /^(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)-/,
  deepseek: /^deepseek-(?:chat|reasoner)$/,
}

/** Open models of their makers, which other providers host. */
const open = /^gpt-oss/

/** Whether a provider is known to have a model, or one of which it is a dated version. */
export function hasKnownModel(provider: string, model: string): boolean {
  if (!open.test(model) && families[provider as ProviderName]?.test(model) === true) return true
  const rows = priceRows[provider]
  return rows !== undefined && Object.keys(rows).some(name => isVersionOf(model, name))
}

/** The models with a price that comes with Gatehouse; at a cloud, those of its publishers. */
export function pricedModelsOf(provider: string): readonly string[] {
  const publishers = provider === 'google-vertex-ai' ? ['google-ai-studio', 'anthropic'] : [provider]
  return publishers.flatMap(name => Object.keys(priceRows[name] ?? {}))
}

function isVersionOf(model: string, name: string): boolean {
  return model === name || (model.startsWith(`${name}-`) && /^-\d/.test(model.slice(name.length)))
}
