// What well-known models cost, in US dollars for a million tokens: pure data for prices.ts. These are the list prices of the providers' own price pages as of
// the end of 2025, for ordinary calls: no discounts for caches and batches, no surcharges for long contexts. Prices change: `ai.prices` of the configuration
// overrides and adds to them.

/** Prices of input and output by provider and model; a row also stands for the dated versions of its model that have no row of their own. */
export const priceRows: Readonly<
  Record<string, Readonly<Record<string, readonly [input: number, output: number]>>>
> = {
  openai: {
    'gpt-5.1': [1.25, 10],
    'gpt-5': [1.25, 10],
    'gpt-5-mini': [0.25, 2],
    'gpt-5-nano': [0.05, 0.4],
    'gpt-4.1': [2, 8],
    'gpt-4.1-mini': [0.4, 1.6],
    'gpt-4.1-nano': [0.1, 0.4],
    'gpt-4o': [2.5, 10],
    'gpt-4o-2024-05-13': [5, 15],
    'gpt-4o-mini': [0.15, 0.6],
    'gpt-4-turbo': [10, 30],
    'gpt-4': [30, 60],
    'gpt-3.5-turbo': [0.5, 1.5],
    'gpt-3.5-turbo-1106': [1, 2],
    'gpt-3.5-turbo-0613': [1.5, 2],
    o1: [15, 60],
    o3: [2, 8],
    'o3-mini': [1.1, 4.4],
    'o4-mini': [1.1, 4.4],
    'text-embedding-3-small': [0.02, 0],
    'text-embedding-3-large': [0.13, 0],
    'text-embedding-ada-002': [0.1, 0],
  },
  anthropic: {
    'claude-opus-4-5': [5, 25],
    'claude-opus-4-1': [15, 75],
    'claude-opus-4-0': [15, 75],
    'claude-opus-4': [15, 75],
    'claude-sonnet-4-5': [3, 15],
    'claude-sonnet-4-0': [3, 15],
    'claude-sonnet-4': [3, 15],
    'claude-haiku-4-5': [1, 5],
    'claude-3-7-sonnet': [3, 15],
    'claude-3-5-sonnet': [3, 15],
    'claude-3-5-haiku': [0.8, 4],
    'claude-3-opus': [15, 75],
    'claude-3-haiku': [0.25, 1.25],
  },
  'google-ai-studio': {
    'gemini-2.5-pro': [1.25, 10],
    'gemini-2.5-flash': [0.3, 2.5],
    'gemini-2.5-flash-lite': [0.1, 0.4],
    'gemini-2.0-flash': [0.1, 0.4],
    'gemini-2.0-flash-lite': [0.075, 0.3],
    'gemini-embedding-001': [0.15, 0],
  },
  mistral: {
    'mistral-large-2411': [2, 6],
    'mistral-medium-2505': [0.4, 2],
    'mistral-medium-2508': [0.4, 2],
    'mistral-small-2506': [0.1, 0.3],
    'codestral-2501': [0.3, 0.9],
    'codestral-2508': [0.3, 0.9],
    'mistral-embed': [0.1, 0],
  },
  groq: {
    'llama-3.3-70b-versatile': [0.59, 0.79],
    'llama-3.1-8b-instant': [0.05, 0.08],
  },
  deepseek: {
    'deepseek-chat': [0.28, 0.42],
    'deepseek-reasoner': [0.28, 0.42],
  },
}
