import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A tool that a model is offered, in the format of OpenAI's chat completions. */
interface OfferedTool {
	name: string;
	description: string;
	parameters: { properties: Record<string, { type?: string; description?: string }> };
}

/** The conversation so far, and the available tools. */
export interface Turn {
	tools: OfferedTool[];
	messages: Array<{ role: string; content: unknown }>;
}

interface ToolUse {
	tool: string;
	input: object;
}

/** The model's next move: it calls one tool or several, or gives its final answer. */
export type Move = ToolUse | ToolUse[] | { say: string };

/** A model with scripted replies, behind OpenAI's API. */
export interface ScriptedModel {
	url: string;
	/** The requests that it received, in order. */
	turns: Turn[];
	close(): Promise<void>;
}

/** One move for each turn, or a function that decides the next move from the turn. */
type Script = Array<(turn: Turn) => Move> | ((turn: Turn) => Promise<Move>);

/** Starts a server that answers chat completions by a script. */
export async function startModel(script: Script): Promise<ScriptedModel> {
	const next = async (turn: Turn): Promise<Move> =>
		typeof script === 'function' ? await script(turn) : (script[turns.length]?.(turn) ?? { say: 'There is nothing left to do.' });
	const turns: Turn[] = [];
	const server = createServer((request, response) => {
		void text(request).then(async (body) => {
			const { tools = [], messages } = JSON.parse(body) as {
				tools?: Array<{ function: OfferedTool }>;
				messages: Turn['messages'];
			};
			const turn = { tools: tools.map((tool) => tool.function), messages };
			const move = await next(turn);
			turns.push(turn);
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify(completion(move, turns.length)));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/v1`,
		turns,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

function completion(move: Move, turn: number) {
	const message =
		'say' in move
			? { role: 'assistant', content: move.say }
			: {
					role: 'assistant',
					content: null,
					tool_calls: [move].flat().map(({ tool, input }, i) => ({
						id: `call_${turn}_${i}`,
						type: 'function',
						function: { name: tool, arguments: JSON.stringify(input) },
					})),
				};
	return {
		id: `chatcmpl-${turn}`,
		object: 'chat.completion',
		created: 0,
		model: 'scripted',
		choices: [{ index: 0, message, finish_reason: 'say' in move ? 'stop' : 'tool_calls' }],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
}
