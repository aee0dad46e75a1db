import type { Language } from '../../config.js'
import type { Block, LetterText } from '../letter.js'
import type { LetterOrder, ShopLetterWords, ShopTopic } from './shop-content.js'
import { englishShopWords } from './shop-letter-words-en.js'
import { russianShopWords } from './shop-letter-words-ru.js'

const words: Readonly<Record<Language, ShopLetterWords>> = {
  en: englishShopWords,
  ru: russianShopWords,
}

/** The subject and the blocks of a letter of the shop. */
export function writeShopLetter(language: Language, topic: ShopTopic): LetterText {
  const say = words[language]
  return {
    subject: say.subject(topic),
    blocks: [textBlock(say.opening(topic)), ...blocksOf(say, topic), textBlock(say.automatic)],
  }
}

function blocksOf(say: ShopLetterWords, topic: ShopTopic): readonly Block[] {
  switch (topic.kind) {
    case 'code':
      return [
        { kind: 'code', text: topic.code },
        textBlock(say.codeUse),
        textBlock(say.codeUnknown),
      ]
    case 'connect-code':
      return [
        { kind: 'code', text: topic.code },
        textBlock(say.codeUse),
        textBlock(say.asked(topic)),
        textBlock(say.askedUnknown),
      ]
    case 'order-received':
      return [orderList(say, topic.order), textBlock(topic.payment)]
    case 'order-declined':
      return [orderList(say, topic.order)]
    case 'new-order':
      return [
        orderList(say, topic.order),
        textBlock(say.howToConfirm),
        { kind: 'code', text: `das order confirm ${topic.order.orderId}` },
      ]
  }
}

function orderList(say: ShopLetterWords, order: LetterOrder): Block {
  return { kind: 'list', items: [...order.items.map(say.item), ...say.terms(order)] }
}

function textBlock(text: string): Block {
  return { kind: 'text', text }
}
