import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiProduces } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import type { Response } from 'express';
import { dto, IsText, IsWhole, Nullable } from '@inquest/contracts-base';
import {
  ClickRequest,
  IncarnationRequest,
  InputView,
  POINTER_BUTTONS,
  PressKeysRequest,
  SCREEN_MAX_PIXELS,
  SCROLL_DIRECTIONS,
  ScrollRequest,
  TYPED_TEXT_MAX_CHARS,
  TypeTextRequest,
  type PointerButton,
  type ScrollDirection,
} from '@inquest/contracts-vm';
import { VmClient } from '@inquest/vm-client';
import { BY, IncarnationBody, MachineParams } from './machine-requests';
import { passThrough } from './stream-proxy';

export class ClickBody extends IncarnationBody {
  /** Pixels from the left, as in a screenshot. */
  @IsWhole(0, SCREEN_MAX_PIXELS) readonly x!: number;
  /** Pixels from the top. */
  @IsWhole(0, SCREEN_MAX_PIXELS) readonly y!: number;
  @IsIn(POINTER_BUTTONS) readonly button: PointerButton = 'left';
  @IsWhole(1, 3) readonly times: number = 1;
}

export class TypeTextBody extends IncarnationBody {
  /** Characters of a US keyboard; a line end is the Enter key. */
  @IsText(TYPED_TEXT_MAX_CHARS, 1) readonly text!: string;
}

export class PressKeysBody extends IncarnationBody {
  /** Such as `ctrl+alt+delete` or `enter`. */
  @IsText(64, 1) readonly keys!: string;
}

export class ScrollBody extends IncarnationBody {
  @IsIn(SCROLL_DIRECTIONS) readonly direction!: ScrollDirection;
  @IsWhole(1, 50) readonly steps: number = 3;
  /** Together with `y`: where the pointer goes first. */
  @Nullable() @IsWhole(0, SCREEN_MAX_PIXELS) readonly x: number | null = null;
  @Nullable() @IsWhole(0, SCREEN_MAX_PIXELS) readonly y: number | null = null;
}

/** The screen of a machine that has one, its pointer and its keyboard. */
@Controller('v1/machines/:machine')
export class ScreensController {
  constructor(private readonly machines: VmClient) {}

  /** Answers with the picture itself. */
  @Post('screenshot')
  @ApiProduces('image/png')
  async screenshot(@Param() { machine }: MachineParams, @Res() answer: Response): Promise<void> {
    const { picture } = await this.machines.on(machine, (machineId) =>
      this.machines.screenshot(dto(IncarnationRequest, { machineId })),
    );
    await passThrough(picture, null, answer);
  }

  @Post('screen/click')
  @HttpCode(200)
  click(@Param() { machine }: MachineParams, @Body() body: ClickBody): Promise<InputView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.click(dto(ClickRequest, { ...body, machineId, by: BY })),
    );
  }

  @Post('screen/type')
  @HttpCode(200)
  typeText(@Param() { machine }: MachineParams, @Body() body: TypeTextBody): Promise<InputView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.typeText(dto(TypeTextRequest, { ...body, machineId, by: BY })),
    );
  }

  @Post('screen/keys')
  @HttpCode(200)
  pressKeys(@Param() { machine }: MachineParams, @Body() body: PressKeysBody): Promise<InputView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.pressKeys(dto(PressKeysRequest, { ...body, machineId, by: BY })),
    );
  }

  @Post('screen/scroll')
  @HttpCode(200)
  scroll(@Param() { machine }: MachineParams, @Body() body: ScrollBody): Promise<InputView> {
    return this.machines.on(machine, (machineId) =>
      this.machines.scroll(dto(ScrollRequest, { ...body, machineId, by: BY })),
    );
  }
}
