// Escapes text from outside, so that it can neither control a terminal, change direction, nor be invisible.

export function visible(text: string): string {
  return text.replace(steering, character => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** By JSON's own sequences, so that it stays the same JSON; line feeds between its texts are kept. */
export function visibleJson(json: string): string {
  return json.replace(steeringInJson, escapeInJson)
}

/** The joiners are kept: scripts and emoji need them. */
const steering = /(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu
const steeringInJson = /(?![\n\u200c\u200d])[\p{C}\u2028\u2029]/gu

function escapeInJson(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
