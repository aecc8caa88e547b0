import type { Begins, History, Settings } from './histories.ts';
import type { ModelN8n, Row } from './n8n.ts';
import type { ModelService } from './service.ts';

/** What a user published, from when to when the publish took (Unix epoch ms). */
export interface Publication {
	node: string;
	types: string[];
	begins: Begins;
	settings: Settings;
	from: number;
	to: number;
}

/** A history that was lived. */
export interface Played {
	history: History;
	service: ModelService;
	n8n: ModelN8n;
	choices: Publication[];
	kills: number[];
	restores: number[];
	/** When the stored position was taken away or set back. */
	losses: number[];
	pruned?: boolean;
}

/** Whether an execution has dealt with its events. */
export function counts(publications: Publication[], { status }: Row): boolean {
	return status === 'success' || publications.some(({ settings }) => settings.doneWhen !== 'succeeded');
}
