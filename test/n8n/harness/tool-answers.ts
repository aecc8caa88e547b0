import type { Turn } from '../../../demo/scripted-model.ts';

/** The answers of tools that a model has read. */
export const answersIn = ({ messages }: Turn): string[] =>
	messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));

/** The token of a preview that a tool has answered with. */
export const tokenIn = (answer = ''): string => /token[\\":]+([\w.-]+)/.exec(answer)?.[1] ?? '';
