"""Operations on images: each image of a batch `[batch, height, width, channels]` is worked on by itself.

Source: image_ops_impl.py, array_ops.py and contrib/image of TensorFlow 1.15, and a run of each operation on a whole
batch and on its halves.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.rows import table, together
from converter.analysis.tensors import algebra, shaping
from converter.analysis.traits import Trait
from converter.analysis.values import FREE, Batch, Lengths, Tensor, Value, opaque


def _batch(call: Call) -> Batch:
    """The batch layout of the result: that of the images and of all arguments with one value per image."""
    tensors = [algebra.as_tensor(v) for v in call.values()]
    examples = [t for t in tensors if t.batch.kind == "example"]
    if len({t.batch for t in examples}) == 1 and examples[0].batch.axis == 0 and tensors[0].rank != 3:
        return examples[0].batch
    unknown = opaque(Why.UNKNOWN_CALL, call.name)  # a tensor of rank 3 is a single image
    others = [t.batch for t in tensors if t.batch.kind != "free"]
    return next((b for b in others if b.kind == "opaque"), unknown) if others else FREE


def _image(call: Call) -> Value:
    """Returns one image per input image; of a single image, or of a tensor that may be one, the rank stays as it is."""
    kept, images = _batch(call), algebra.as_tensor(call.values()[0]) if call.values() else Tensor()
    rank = 4 if kept.kind == "example" else images.rank
    return call.gives(kept, None if rank is None else (None,) * rank)


def _resized(call: Call) -> Value:
    """As `_image`, as high and wide as the size says, unless the ratio of both is kept."""
    kept, images = _batch(call), algebra.as_tensor(call.values()[0]) if call.values() else Tensor()
    size = shaping.lengths_of(shaping.shape_entries(call.get(1, "size")))
    as_said = not call.given("preserve_aspect_ratio") and len(call.args) < 4
    if kept.kind != "example" or size is None or len(size) != 2 or not as_said:
        return _image(call)
    return call.gives(kept, (None, *size, images.lengths[-1] if images.lengths else None))


def _each(lengths: Lengths) -> Handler:
    """The call gives a tensor of these lengths with an entry for each image, or for each pair of images."""
    return lambda call: call.gives(_batch(call), lengths)


TRAITS: dict[Trait, str] = {
    Trait.FLOAT32: "image.resize_images image.psnr image.ssim image.ssim_multiscale",
    Trait.OWN_DTYPE: "image.convert_image_dtype",
    Trait.TAKES_DTYPE: "image.convert_image_dtype",
}

CALLS: dict[str, Handler] = table(
    (
        "image.resize_images image.resize image.resize_area image.resize_bicubic image.resize_bilinear "
        "image.resize_nearest_neighbor",
        _resized,
    ),
    (
        "image.resize_image_with_crop_or_pad image.resize_image_with_pad "
        "image.resize_with_crop_or_pad image.resize_with_pad image.central_crop image.crop_to_bounding_box "
        "image.pad_to_bounding_box image.draw_bounding_boxes image.flip_left_right image.flip_up_down "
        "image.rot90 image.transpose image.transpose_image image.random_flip_left_right "
        "image.random_flip_up_down image.adjust_brightness image.adjust_contrast image.adjust_gamma "
        "image.adjust_hue image.adjust_saturation image.random_brightness image.random_contrast "
        "image.random_hue image.random_saturation image.convert_image_dtype image.grayscale_to_rgb "
        "image.rgb_to_grayscale image.hsv_to_rgb image.rgb_to_hsv image.rgb_to_yiq image.yiq_to_rgb "
        "image.rgb_to_yuv image.yuv_to_rgb image.extract_glimpse contrib.image.dense_image_warp "
        "contrib.image.rotate contrib.image.transform contrib.image.translate",
        _image,
    ),
    ("extract_image_patches image.extract_image_patches image.extract_patches image.sobel_edges", _each(None)),
    ("image.psnr image.ssim image.ssim_multiscale image.total_variation", _each((None,))),
    ("image.image_gradients", together(_each((None,) * 4), _each((None,) * 4))),
)
