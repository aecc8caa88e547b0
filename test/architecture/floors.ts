import type { Part } from './part.ts';

/**
 * One floor: its places, each with the packages and the parts outside the floors it may import. A place is a folder
 * (with the files directly in it; with all, if it ends with `**`), or one file.
 */
export type Floor = Record<string, string[]>;

/** The parts of a design in floors: a place may import all places on lower floors, and none on its own. */
export function partsOnFloors(root: string, floors: Floor[]): Record<string, Part> {
	const namesOn = (floor: Floor) => Object.keys(floor).map((place) => `${root}/${place}`);
	return Object.fromEntries(
		floors.flatMap((floor, height) =>
			Object.entries(floor).map(([place, others]): [string, Part] => [
				`${root}/${place}`,
				{
					files: [`${root}/${/\.ts$|\*\*$/.test(place) ? place : `${place}/*.ts`}`],
					imports: [...floors.slice(0, height).flatMap(namesOn), ...others],
				},
			]),
		),
	);
}
