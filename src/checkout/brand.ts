/**
 * A merchant's colour on its pages, as a small stylesheet of its own.
 *
 * Invariant: whatever colour was chosen, text and controls keep a contrast of 4.5 : 1, in light and dark: a colour that
 * is too faint is moved towards black or white until it does.
 */

type Rgb = readonly [number, number, number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** Paper and ground of the page, light and dark. */
const LIGHT = { paper: WHITE, ground: [0xf4, 0xf6, 0xf4] } as const satisfies Record<string, Rgb>;
const DARK = { paper: [0x16, 0x21, 0x1e], ground: [0x0e, 0x16, 0x14] } as const satisfies Record<string, Rgb>;
const CONTRAST = 4.5;
/** Per cent of the colour in the background of a selected item. */
const TINT_PERCENT = 10;

/** Six hexadecimal digits. */
export function isColour(hex: string): boolean {
  return /^[0-9a-f]{6}$/.test(hex);
}

/** The stylesheet for a colour of six hexadecimal digits. */
export function brandStyle(hex: string): string {
  return `:root{${scheme(hex, LIGHT, BLACK)}}@media(prefers-color-scheme:dark){:root{${scheme(hex, DARK, WHITE)}}}`;
}

function scheme(hex: string, { paper, ground }: { paper: Rgb; ground: Rgb }, towards: Rgb): string {
  const tint = mixed(readable(rgbOf(hex), [paper, ground], towards), paper, TINT_PERCENT);
  const brand = readable(rgbOf(hex), [paper, ground, tint], towards);
  const on = contrast(WHITE, brand) >= CONTRAST ? WHITE : BLACK;
  return `--brand:${hexOf(brand)};--on-brand:${hexOf(on)};--tint:${hexOf(tint)}`;
}

/** The colour, moved in steps of five per cent until it can be read on all of these backgrounds. */
function readable(colour: Rgb, grounds: readonly Rgb[], towards: Rgb): Rgb {
  for (let percent = 100; percent > 0; percent -= 5) {
    const tried = mixed(colour, towards, percent);
    if (grounds.every((ground) => contrast(tried, ground) >= CONTRAST)) return tried;
  }
  return towards;
}

function mixed(colour: Rgb, other: Rgb, percent: number): Rgb {
  const part = (i: 0 | 1 | 2): number => Math.round((colour[i] * percent + other[i] * (100 - percent)) / 100);
  return [part(0), part(1), part(2)];
}

/** WCAG 2.2, contrast ratio. */
function contrast(a: Rgb, b: Rgb): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance([red, green, blue]: Rgb): number {
  const linear = (channel: number): number => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex, 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function hexOf(colour: Rgb): string {
  return `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
