/**
 * The characters that XML 1.0 (section 2.2) encourages documents to avoid, and that KSeF refuses.
 *
 * @since 0.1.0
 */

/**
 * Returns the index of the first such character of `text`, or -1. U+0085 is none of them.
 *
 * @category getters
 * @since 0.1.0
 */
export const search = (text: string): number => text.search(discouraged)

// The last two code points of each of the seventeen planes but the first, where XML does not allow them at all.
const discouraged =
  /[\u007F-\u0084\u0086-\u009F\uFDD0-\uFDEF\u{1FFFE}\u{1FFFF}\u{2FFFE}\u{2FFFF}\u{3FFFE}\u{3FFFF}\u{4FFFE}\u{4FFFF}\u{5FFFE}\u{5FFFF}\u{6FFFE}\u{6FFFF}\u{7FFFE}\u{7FFFF}\u{8FFFE}\u{8FFFF}\u{9FFFE}\u{9FFFF}\u{AFFFE}\u{AFFFF}\u{BFFFE}\u{BFFFF}\u{CFFFE}\u{CFFFF}\u{DFFFE}\u{DFFFF}\u{EFFFE}\u{EFFFF}\u{FFFFE}\u{FFFFF}\u{10FFFE}\u{10FFFF}]/u
