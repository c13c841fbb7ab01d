// Text from outside, written so that it can neither steer a terminal, nor turn the order of the text around, nor stand there unseen.

/** Writes what could do so as escape sequences. */
export function visible(text: string): string {
  return text.replace(steering, character => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** Writes what could do so within JSON as its escape sequences, so that it stays the same JSON. Line feeds stay: within its texts they are escaped already. */
export function visibleJson(json: string): string {
  return json.replace(steeringInJson, escapeInJson)
}

/** The joiners stay: scripts and emoji are written with them. */
const steering = /(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu
const steeringInJson = /(?![\n\u200c\u200d])[\p{C}\u2028\u2029]/gu

function escapeInJson(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
